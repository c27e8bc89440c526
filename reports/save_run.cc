// Database::Save: the tables of one run, in one transaction.
#include "base/hash.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "reports/database.h"
#include "reports/row.h"

namespace ptxla::reports {
namespace {

using record::RunRecord;
using sqlite::Connection;

#define OPTIONAL(message, field)                                       \
  ((message).has_##field()                                             \
       ? std::optional<decltype((message).field())>((message).field()) \
       : std::nullopt)

absl::Status SaveShared(Connection* db, const RunRecord& run,
                        const std::string& report_hash) {
  const record::RunConfig& c = run.config();
  ASSIGN_OR_RETURN(Inserter chip, Inserter::Into(db, "chip", 3, true));
  RETURN_IF_ERROR(chip.Row(c.chip_fingerprint(), c.chip(), c.chip_text()));
  ASSIGN_OR_RETURN(Inserter config, Inserter::Into(db, "config", 19, true));
  record::RunConfig resolved = c;
  resolved.clear_chip_text();  // stands in its own table
  RETURN_IF_ERROR(config.Row(
      run.config_hash(), c.workload(), c.hlo_source(), c.input_hash(),
      c.phase(), c.topology(), c.chip(), c.num_chips(),
      OPTIONAL(c, global_batch), OPTIONAL(c, batch_per_chip), OPTIONAL(c, seq),
      c.dtype(), c.optimizer(), c.parallel(), c.remat(), c.mode(), c.fidelity(),
      c.chip_fingerprint(), PrintTextProto(resolved)));
  ASSIGN_OR_RETURN(Inserter report,
                   Inserter::Into(db, "metrics_report", 2, true));
  return report.Row(report_hash, run.metrics_report());
}

absl::Status SaveRunRow(Connection* db, const RunRecord& run,
                        const std::string& report_hash) {
  ASSIGN_OR_RETURN(Inserter insert, Inserter::Into(db, "run", 50));
  const auto time = [&](auto get) -> std::optional<int64_t> {
    if (!run.has_step_time()) return std::nullopt;
    return get();
  };
  const record::Band& step = run.step_time();
  const record::BoundTimes& b = run.time_by_bound();
  const auto bound = [&](int64_t ps) { return time([=] { return ps; }); };
  const record::FirstSteps& first = run.first_steps();
  const auto once = [&](int64_t v) -> std::optional<int64_t> {
    if (!run.has_first_steps()) return std::nullopt;
    return v;
  };
  std::optional<double> usd, usd_once, hourly;
  std::optional<std::string> region, kind, date, source, basis, first_basis;
  if (run.has_cost()) {
    usd = run.cost().usd_per_million_samples();
    usd_once = run.cost().usd_once();
    const record::PriceRecord& p = run.cost().price();
    hourly = p.usd_per_chip_hour();
    region = p.region();
    kind = p.kind();
    date = p.date();
    source = p.source();
  }
  if (run.has_step_time()) basis = step.basis();
  if (run.has_first_steps()) first_basis = first.compile().basis();
  return insert.Row(
      run.run_id(), run.started_unix_ms(), run.tool().version(),
      run.config_hash(), run.result_hash(), run.status().code(),
      run.status().message(), run.status().where(), bound(step.value_ps()),
      bound(step.low_ps()), bound(step.high_ps()), basis, run.bound(),
      bound(b.mxu_ps()), bound(b.vpu_ps()), bound(b.hbm_ps()),
      bound(b.ici_ps()), bound(b.dcn_ps()), bound(b.host_ps()),
      bound(b.input_ps()), bound(b.overhead_ps()),
      OPTIONAL(run, device_time_ps), OPTIONAL(run, trace_time_ps),
      OPTIONAL(run, throughput), run.config().sample_unit(), OPTIONAL(run, mfu),
      OPTIONAL(run, hfu), OPTIONAL(run, model_flops_per_step_per_chip),
      OPTIONAL(run, matmul_flops_per_step_per_chip),
      OPTIONAL(run, peak_flops_per_s), usd, usd_once, hourly, region, kind,
      date, source, once(first.compiles()), once(first.compile().value_ps()),
      once(first.compile().low_ps()), once(first.compile().high_ps()),
      first_basis, once(first.trace_ps()), once(first.upload_ps()),
      once(first.total_ps()), OPTIONAL(run, assumed_effect),
      OPTIONAL(run, steady_program), report_hash, run.tool().wall_s(),
      run.tool().peak_rss_bytes());
}

absl::Status SaveRunLists(Connection* db, const RunRecord& run) {
  const std::string& id = run.run_id();
  ASSIGN_OR_RETURN(Inserter warning, Inserter::Into(db, "run_warning", 3));
  for (int i = 0; i < run.warnings_size(); ++i) {
    RETURN_IF_ERROR(warning.Row(id, i, run.warnings(i)));
  }
  ASSIGN_OR_RETURN(Inserter step, Inserter::Into(db, "step", 12));
  for (const record::StepRecord& s : run.steps()) {
    RETURN_IF_ERROR(step.Row(id, s.index(), s.begin_ps(), s.end_ps(),
                             s.trace_ps(), s.sync_ps(), s.compile_ps(),
                             s.transfer_ps(), s.device_begin_ps(),
                             s.device_end_ps(), s.cached(), s.graph_hash()));
  }
  ASSIGN_OR_RETURN(Inserter assumed, Inserter::Into(db, "assumed", 6));
  for (int i = 0; i < run.assumed_size(); ++i) {
    const record::AssumedRecord& a = run.assumed(i);
    RETURN_IF_ERROR(assumed.Row(id, i, a.name(), a.value(), a.unit(),
                                OPTIONAL(a, effect_ps)));
  }
  if (!run.has_memory()) return absl::OkStatus();
  const record::MemoryRecord& m = run.memory();
  ASSIGN_OR_RETURN(Inserter memory, Inserter::Into(db, "memory", 10));
  RETURN_IF_ERROR(memory.Row(id, m.argument_bytes(), m.output_bytes(),
                             m.alias_bytes(), m.temp_bytes(), m.code_bytes(),
                             m.peak_bytes(), m.usable_bytes(),
                             m.nominal_bytes(), m.verdict()));
  ASSIGN_OR_RETURN(Inserter buffer, Inserter::Into(db, "memory_buffer", 6));
  for (int i = 0; i < m.largest_size(); ++i) {
    const record::BufferRecord& b = m.largest(i);
    RETURN_IF_ERROR(
        buffer.Row(id, i, b.name(), b.layer(), b.kind(), b.bytes()));
  }
  return absl::OkStatus();
}

absl::Status SaveProgram(Connection* db, const std::string& hash,
                         const record::ProgramRecord& p) {
  ASSIGN_OR_RETURN(sqlite::Statement known,
                   db->Prepare("SELECT 1 FROM program WHERE program_hash=?1"));
  known.Bind(1, hash);
  ASSIGN_OR_RETURN(bool there, known.Step());
  if (there) return absl::OkStatus();
  ASSIGN_OR_RETURN(Inserter program, Inserter::Into(db, "program", 12));
  const record::BoundTimes& b = p.time_by_bound();
  RETURN_IF_ERROR(program.Row(hash, p.name(), p.device_time_ps(),
                              p.device_cycles(), p.matmul_flops(),
                              p.hbm_bytes(), b.mxu_ps(), b.vpu_ps(), b.hbm_ps(),
                              b.ici_ps(), b.dcn_ps(), b.overhead_ps()));
  ASSIGN_OR_RETURN(Inserter op, Inserter::Into(db, "op", 13));
  for (int i = 0; i < p.ops_size(); ++i) {
    const record::OpRecord& o = p.ops(i);
    RETURN_IF_ERROR(op.Row(hash, i, o.name(), o.opcode(), o.layer(), o.count(),
                           o.time_ps(), o.bound(), o.flops(), o.bytes(),
                           OPTIONAL(o, fraction_of_peak), o.estimated(),
                           o.source()));
  }
  ASSIGN_OR_RETURN(Inserter collective, Inserter::Into(db, "collective", 8));
  for (int i = 0; i < p.collectives_size(); ++i) {
    const record::CollectiveRecord& c = p.collectives(i);
    RETURN_IF_ERROR(collective.Row(hash, i, c.kind(), c.count(), c.bytes(),
                                   c.group_size(), c.time_ps(),
                                   c.exposed_ps()));
  }
  return absl::OkStatus();
}

absl::Status SavePrograms(Connection* db, const RunRecord& run) {
  ASSIGN_OR_RETURN(Inserter link, Inserter::Into(db, "run_program", 3));
  for (int i = 0; i < run.programs_size(); ++i) {
    const std::string hash = ProgramHash(run.programs(i));
    RETURN_IF_ERROR(SaveProgram(db, hash, run.programs(i)));
    RETURN_IF_ERROR(link.Row(run.run_id(), i, hash));
  }
  ASSIGN_OR_RETURN(Inserter compile, Inserter::Into(db, "compilation", 17));
  ASSIGN_OR_RETURN(Inserter pass, Inserter::Into(db, "pass", 7));
  for (int i = 0; i < run.compiles_size(); ++i) {
    const record::CompileRecord& c = run.compiles(i);
    RETURN_IF_ERROR(compile.Row(
        run.run_id(), i, c.program(), c.graph_hash(), c.name(),
        c.hlo_instructions(), c.optimized_instructions(), c.bundles(),
        c.predicted().value_ps(), c.predicted().low_ps(),
        c.predicted().high_ps(), c.predicted().basis(), c.argument_bytes(),
        c.output_bytes(), c.alias_bytes(), c.temp_bytes(), c.code_bytes()));
    for (int j = 0; j < c.passes_size(); ++j) {
      const record::PassRecord& p = c.passes(j);
      RETURN_IF_ERROR(pass.Row(run.run_id(), i, j, p.name(), p.changed(),
                               p.instructions_before(),
                               p.instructions_after()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Database::Save(const RunRecord& run) {
  const std::string report_hash = HashToHex(HashBytes(run.metrics_report()));
  ASSIGN_OR_RETURN(sqlite::Transaction transaction,
                   sqlite::Transaction::Begin(&connection_));
  RETURN_IF_ERROR(SaveShared(&connection_, run, report_hash));
  RETURN_IF_ERROR(SaveRunRow(&connection_, run, report_hash));
  RETURN_IF_ERROR(SaveRunLists(&connection_, run));
  RETURN_IF_ERROR(SavePrograms(&connection_, run));
  return transaction.Commit();
}

}  // namespace ptxla::reports

// Database::Load: a run back from its tables.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "reports/database.h"
#include "reports/row.h"

namespace ptxla::reports {
namespace {

using record::RunRecord;
using sqlite::Connection;
using sqlite::Statement;

// Calls `each(Columns)` for every row of a query with one text parameter.
template <class F>
absl::Status ForEach(Connection* db, absl::string_view sql,
                     const std::string& key, F each) {
  ASSIGN_OR_RETURN(Statement s, db->Prepare(sql));
  s.Bind(1, key);
  while (true) {
    ASSIGN_OR_RETURN(bool row, s.Step());
    if (!row) return absl::OkStatus();
    RETURN_IF_ERROR(each(Columns(&s)));
  }
}

void ReadBand(Columns* c, record::Band* band) {
  band->set_value_ps(c->Int());
  band->set_low_ps(c->Int());
  band->set_high_ps(c->Int());
  band->set_basis(c->Text());
}

absl::Status ReadRunRow(Columns c, RunRecord* run) {
  run->set_run_id(c.Text());
  run->set_started_unix_ms(c.Int());
  run->mutable_tool()->set_version(c.Text());
  run->set_config_hash(c.Text());
  run->set_result_hash(c.Text());
  run->mutable_status()->set_code(c.Text());
  run->mutable_status()->set_message(c.Text());
  run->mutable_status()->set_where(c.Text());
  run->set_bound(c.Text());
  run->mutable_tool()->set_wall_s(c.Real());
  run->mutable_tool()->set_peak_rss_bytes(c.Int());
  if (c.Has()) run->set_device_time_ps(c.Int());
  if (c.Has()) run->set_trace_time_ps(c.Int());
  if (c.Has()) run->set_throughput(c.Real());
  if (c.Has()) run->set_mfu(c.Real());
  if (c.Has()) run->set_hfu(c.Real());
  if (c.Has()) run->set_model_flops_per_step_per_chip(c.Int());
  if (c.Has()) run->set_matmul_flops_per_step_per_chip(c.Int());
  if (c.Has()) run->set_peak_flops_per_s(c.Real());
  if (c.Has()) run->set_assumed_effect(c.Real());
  if (c.Has()) run->set_steady_program(static_cast<int>(c.Int()));
  run->set_metrics_report(c.Text());
  return absl::OkStatus();
}

absl::Status ReadRun(Connection* db, const std::string& id, RunRecord* run) {
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT run_id, started_unix_ms, tool_version, config_hash, result_hash,"
      " status_code, status_message, status_where, bound, tool_wall_s,"
      " tool_peak_rss_bytes, device_time_ps, trace_time_ps, throughput_per_s,"
      " mfu, hfu, model_flops_per_step_per_chip,"
      " matmul_flops_per_step_per_chip, peak_flops_per_s, assumed_effect,"
      " steady_program, text FROM run JOIN metrics_report USING (report_hash)"
      " WHERE run_id=?1",
      id, [&](Columns c) -> absl::Status { return ReadRunRow(c, run); }));
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT step_time_ps, step_time_low_ps, step_time_high_ps,"
      " step_time_basis, mxu_ps, vpu_ps, hbm_ps, ici_ps, dcn_ps, host_ps,"
      " input_ps, overhead_ps FROM run WHERE run_id=?1"
      " AND step_time_ps IS NOT NULL",
      id, [&](Columns c) -> absl::Status {
        ReadBand(&c, run->mutable_step_time());
        record::BoundTimes* b = run->mutable_time_by_bound();
        b->set_mxu_ps(c.Int());
        b->set_vpu_ps(c.Int());
        b->set_hbm_ps(c.Int());
        b->set_ici_ps(c.Int());
        b->set_dcn_ps(c.Int());
        b->set_host_ps(c.Int());
        b->set_input_ps(c.Int());
        b->set_overhead_ps(c.Int());
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(
      ForEach(db,
              "SELECT usd_per_million_samples, usd_once, usd_per_chip_hour,"
              " price_region, price_kind, price_date, price_source FROM run"
              " WHERE run_id=?1 AND usd_per_million_samples IS NOT NULL",
              id, [&](Columns c) -> absl::Status {
                record::CostRecord* cost = run->mutable_cost();
                cost->set_usd_per_million_samples(c.Real());
                cost->set_usd_once(c.Real());
                cost->mutable_price()->set_usd_per_chip_hour(c.Real());
                cost->mutable_price()->set_region(c.Text());
                cost->mutable_price()->set_kind(c.Text());
                cost->mutable_price()->set_date(c.Text());
                cost->mutable_price()->set_source(c.Text());
                return absl::OkStatus();
              }));
  return ForEach(
      db,
      "SELECT first_compile_ps, first_compile_low_ps, first_compile_high_ps,"
      " first_compile_basis, first_compiles, first_trace_ps, first_upload_ps,"
      " first_total_ps FROM run WHERE run_id=?1 AND first_compiles IS NOT NULL",
      id, [&](Columns c) -> absl::Status {
        record::FirstSteps* first = run->mutable_first_steps();
        ReadBand(&c, first->mutable_compile());
        first->set_compiles(static_cast<int>(c.Int()));
        first->set_trace_ps(c.Int());
        first->set_upload_ps(c.Int());
        first->set_total_ps(c.Int());
        return absl::OkStatus();
      });
}

absl::Status ReadLists(Connection* db, const std::string& id, RunRecord* run) {
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT resolved, text FROM config JOIN chip USING (chip_fingerprint)"
      " WHERE config_hash=?1",
      run->config_hash(), [&](Columns c) -> absl::Status {
        RETURN_IF_ERROR(
            ParseTextProto(c.Text(), "configuration", run->mutable_config()));
        run->mutable_config()->set_chip_text(c.Text());
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(ForEach(
      db, "SELECT text FROM run_warning WHERE run_id=?1 ORDER BY warning_index",
      id, [&](Columns c) -> absl::Status {
        run->add_warnings(c.Text());
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT step_index, begin_ps, end_ps, trace_ps, sync_ps, compile_ps,"
      " transfer_ps, device_begin_ps, device_end_ps, cached, graph_hash"
      " FROM step WHERE run_id=?1 ORDER BY step_index",
      id, [&](Columns c) -> absl::Status {
        record::StepRecord* s = run->add_steps();
        s->set_index(static_cast<int>(c.Int()));
        s->set_begin_ps(c.Int());
        s->set_end_ps(c.Int());
        s->set_trace_ps(c.Int());
        s->set_sync_ps(c.Int());
        s->set_compile_ps(c.Int());
        s->set_transfer_ps(c.Int());
        s->set_device_begin_ps(c.Int());
        s->set_device_end_ps(c.Int());
        s->set_cached(c.Int() != 0);
        s->set_graph_hash(c.Text());
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(
      ForEach(db,
              "SELECT name, value, unit, effect_ps FROM assumed WHERE run_id=?1"
              " ORDER BY assumed_index",
              id, [&](Columns c) -> absl::Status {
                record::AssumedRecord* a = run->add_assumed();
                a->set_name(c.Text());
                a->set_value(c.Real());
                a->set_unit(c.Text());
                if (c.Has()) a->set_effect_ps(c.Int());
                return absl::OkStatus();
              }));
  RETURN_IF_ERROR(
      ForEach(db,
              "SELECT argument_bytes, output_bytes, alias_bytes, temp_bytes,"
              " code_bytes, peak_bytes, usable_bytes, nominal_bytes, verdict"
              " FROM memory WHERE run_id=?1",
              id, [&](Columns c) -> absl::Status {
                record::MemoryRecord* m = run->mutable_memory();
                m->set_argument_bytes(c.Int());
                m->set_output_bytes(c.Int());
                m->set_alias_bytes(c.Int());
                m->set_temp_bytes(c.Int());
                m->set_code_bytes(c.Int());
                m->set_peak_bytes(c.Int());
                m->set_usable_bytes(c.Int());
                m->set_nominal_bytes(c.Int());
                m->set_verdict(c.Text());
                return absl::OkStatus();
              }));
  return ForEach(db,
                 "SELECT name, layer, kind, bytes FROM memory_buffer"
                 " WHERE run_id=?1 ORDER BY buffer_index",
                 id, [&](Columns c) -> absl::Status {
                   record::BufferRecord* b =
                       run->mutable_memory()->add_largest();
                   b->set_name(c.Text());
                   b->set_layer(c.Text());
                   b->set_kind(c.Text());
                   b->set_bytes(c.Int());
                   return absl::OkStatus();
                 });
}

absl::Status ReadProgram(Connection* db, const std::string& hash,
                         record::ProgramRecord* p) {
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT name, device_time_ps, device_cycles, matmul_flops, hbm_bytes,"
      " mxu_ps, vpu_ps, hbm_ps, ici_ps, dcn_ps, overhead_ps FROM program"
      " WHERE program_hash=?1",
      hash, [&](Columns c) -> absl::Status {
        p->set_name(c.Text());
        p->set_device_time_ps(c.Int());
        p->set_device_cycles(c.Int());
        p->set_matmul_flops(c.Int());
        p->set_hbm_bytes(c.Int());
        record::BoundTimes* b = p->mutable_time_by_bound();
        b->set_mxu_ps(c.Int());
        b->set_vpu_ps(c.Int());
        b->set_hbm_ps(c.Int());
        b->set_ici_ps(c.Int());
        b->set_dcn_ps(c.Int());
        b->set_overhead_ps(c.Int());
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT name, opcode, layer, count, time_ps, bound, flops, bytes,"
      " fraction_of_peak, estimated, source FROM op WHERE program_hash=?1"
      " ORDER BY op_index",
      hash, [&](Columns c) -> absl::Status {
        record::OpRecord* o = p->add_ops();
        o->set_name(c.Text());
        o->set_opcode(c.Text());
        o->set_layer(c.Text());
        o->set_count(c.Int());
        o->set_time_ps(c.Int());
        o->set_bound(c.Text());
        o->set_flops(c.Int());
        o->set_bytes(c.Int());
        if (c.Has()) o->set_fraction_of_peak(c.Real());
        o->set_estimated(c.Int() != 0);
        o->set_source(c.Text());
        return absl::OkStatus();
      }));
  return ForEach(db,
                 "SELECT kind, count, bytes, group_size, time_ps, exposed_ps"
                 " FROM collective WHERE program_hash=?1"
                 " ORDER BY collective_index",
                 hash, [&](Columns c) -> absl::Status {
                   record::CollectiveRecord* r = p->add_collectives();
                   r->set_kind(c.Text());
                   r->set_count(c.Int());
                   r->set_bytes(c.Int());
                   r->set_group_size(c.Int());
                   r->set_time_ps(c.Int());
                   r->set_exposed_ps(c.Int());
                   return absl::OkStatus();
                 });
}

absl::Status ReadCompiles(Connection* db, const std::string& id,
                          RunRecord* run) {
  RETURN_IF_ERROR(ForEach(db,
                          "SELECT program_hash FROM run_program WHERE run_id=?1"
                          " ORDER BY program_index",
                          id, [&](Columns c) -> absl::Status {
                            return ReadProgram(db, c.Text(),
                                               run->add_programs());
                          }));
  RETURN_IF_ERROR(ForEach(
      db,
      "SELECT program_index, graph_hash, name, hlo_instructions,"
      " optimized_instructions, bundles, predicted_ps, predicted_low_ps,"
      " predicted_high_ps, predicted_basis, argument_bytes, output_bytes,"
      " alias_bytes, temp_bytes, code_bytes FROM compilation WHERE run_id=?1"
      " ORDER BY compile_index",
      id, [&](Columns c) -> absl::Status {
        record::CompileRecord* r = run->add_compiles();
        r->set_program(static_cast<int>(c.Int()));
        r->set_graph_hash(c.Text());
        r->set_name(c.Text());
        r->set_hlo_instructions(c.Int());
        r->set_optimized_instructions(c.Int());
        r->set_bundles(c.Int());
        ReadBand(&c, r->mutable_predicted());
        r->set_argument_bytes(c.Int());
        r->set_output_bytes(c.Int());
        r->set_alias_bytes(c.Int());
        r->set_temp_bytes(c.Int());
        r->set_code_bytes(c.Int());
        return absl::OkStatus();
      }));
  return ForEach(
      db,
      "SELECT compile_index, name, changed, instructions_before,"
      " instructions_after FROM pass WHERE run_id=?1"
      " ORDER BY compile_index, pass_index",
      id, [&](Columns c) -> absl::Status {
        record::PassRecord* p =
            run->mutable_compiles(static_cast<int>(c.Int()))->add_passes();
        p->set_name(c.Text());
        p->set_changed(c.Int() != 0);
        p->set_instructions_before(c.Int());
        p->set_instructions_after(c.Int());
        return absl::OkStatus();
      });
}

}  // namespace

absl::StatusOr<RunRecord> Database::Load(absl::string_view run_id) {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(
      ForEach(&connection_,
              "SELECT run_id FROM run WHERE substr(run_id, 1, length(?1)) = ?1"
              " ORDER BY run_id LIMIT 2",
              std::string(run_id), [&](Columns c) -> absl::Status {
                ids.push_back(c.Text());
                return absl::OkStatus();
              }));
  if (ids.size() != 1) {
    return absl::NotFoundError(
        absl::StrCat(ids.empty() ? "no run " : "more than one run begins with ",
                     run_id, " in ", connection_.path()));
  }
  RunRecord run;
  RETURN_IF_ERROR(ReadRun(&connection_, ids[0], &run));
  RETURN_IF_ERROR(ReadLists(&connection_, ids[0], &run));
  RETURN_IF_ERROR(ReadCompiles(&connection_, ids[0], &run));
  return run;
}

}  // namespace ptxla::reports

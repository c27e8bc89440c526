#include "driver/finish_record.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "driver/program_record.h"
#include "reports/band.h"
#include "reports/formulas.h"

namespace ptxla::driver {
namespace {

using record::RunRecord;

const char* LargestBound(const record::BoundTimes& b) {
  const std::pair<int64_t, const char*> bounds[] = {
      {b.mxu_ps(), "mxu"},     {b.vpu_ps(), "vpu"},
      {b.hbm_ps(), "hbm"},     {b.ici_ps(), "ici"},
      {b.dcn_ps(), "dcn"},     {b.host_ps(), "host"},
      {b.input_ps(), "input"}, {b.overhead_ps(), "overhead"}};
  return std::max_element(
             std::begin(bounds), std::end(bounds),
             [](const auto& x, const auto& y) { return x.first < y.first; })
      ->second;
}

void FillBand(RunRecord* record) {
  std::vector<Picoseconds> effects;
  for (const record::AssumedRecord& a : record->assumed()) {
    effects.push_back(Picoseconds(a.effect_ps()));
  }
  const Picoseconds step(record->step_time().value_ps());
  *record->mutable_step_time() = reports::StepBand(step, std::nullopt, effects,
                                                   record->config().topology());
  if (!effects.empty()) {
    record->set_assumed_effect(reports::CombinedEffect(step, effects));
  }
}

// Of what a step runs: the steady program of a workload, all modules of HLO.
int64_t OfStep(const RunRecord& record,
               int64_t (record::ProgramRecord::*value)() const) {
  if (record.config().hlo_source().empty()) {
    return (record.programs(record.steady_program()).*value)();
  }
  int64_t sum = 0;
  for (const record::ProgramRecord& p : record.programs()) sum += (p.*value)();
  return sum;
}

void FillRates(const chips::Slice& slice, RunRecord* record) {
  const Picoseconds step(record->step_time().value_ps());
  if (step.count() == 0) return;
  const int devices = slice.topology.devices_per_chip();
  const FlopsPerSecond peak(
      DevicePeak(slice, record->config().dtype()).count() * devices);
  record->set_peak_flops_per_s(peak.count());
  if (record->config().has_samples_per_step()) {
    record->set_throughput(
        reports::Throughput(record->config().samples_per_step(), step));
  }
  if (record->has_model_flops_per_step_per_chip()) {
    record->set_mfu(reports::Mfu(Flops(record->model_flops_per_step_per_chip()),
                                 step, peak));
  }
  if (record->has_steady_program()) {
    record->set_hfu(reports::Hfu(
        Picoseconds(OfStep(*record, &record::ProgramRecord::mxu_peak_ps)),
        step));
  }
}

// Guesses are never silent.
void WarnOfEstimates(const record::ProgramRecord& program, RunRecord* record) {
  int64_t time = 0, count = 0;
  for (const record::OpRecord& op : program.ops()) {
    if (!op.estimated()) continue;
    time += op.time_ps();
    count += op.count();
  }
  if (count == 0) return;
  record->add_warnings(
      absl::StrCat(count, " op", count == 1 ? "" : "s", " without a kernel ",
                   count == 1 ? "is an estimate: " : "are estimates: ",
                   100 * time / std::max<int64_t>(1, program.device_time_ps()),
                   " % of the time"));
}

void FillCost(const chips::Slice& slice, RunRecord* record) {
  if (slice.chip.prices().empty()) return;
  const chips::PriceProto& p = slice.chip.prices().front();
  record::CostRecord* cost = record->mutable_cost();
  cost->mutable_price()->set_usd_per_chip_hour(p.usd_per_chip_hour());
  cost->mutable_price()->set_region(p.region());
  cost->mutable_price()->set_kind(p.kind());
  cost->mutable_price()->set_date(p.date());
  cost->mutable_price()->set_source(p.source());
  const int chips = slice.topology.num_chips();
  if (record->has_throughput()) {
    cost->set_usd_per_million_samples(reports::UsdPerMillionSamples(
        chips, p.usd_per_chip_hour(), record->throughput()));
  }
  if (record->has_first_steps()) {
    cost->set_usd_once(
        reports::RentUsd(chips, p.usd_per_chip_hour(),
                         Picoseconds(record->first_steps().total_ps())));
  }
}

}  // namespace

void DescribeSlice(const chips::Slice& slice, record::RunConfig* config) {
  const chips::Topology& t = slice.topology;
  config->set_topology(t.name());
  config->set_chip(slice.chip.name());
  config->set_chip_text(slice.chip.ToText());
  config->set_chip_fingerprint(HashToHex(slice.chip.fingerprint()));
  config->set_num_chips(t.num_chips());
  config->set_num_devices(t.num_devices());
  config->set_num_hosts(t.num_hosts());
  config->set_cores_per_chip(t.cores_per_chip());
  config->set_slice_text(absl::StrCat(
      t.num_chips(), t.num_chips() == 1 ? " chip" : " chips",
      t.num_chips() == 1 ? "" : absl::StrCat(", ", t.Description()),
      t.cores_per_chip() == 1
          ? ""
          : absl::StrCat(", ", t.cores_per_chip(), " cores per chip"),
      ", ", t.num_hosts(), t.num_hosts() == 1 ? " host" : " hosts"));
}

void FinishRecord(const chips::Slice& slice, RunRecord* record) {
  if (record->has_steady_program()) {
    record->set_matmul_flops_per_step_per_chip(
        OfStep(*record, &record::ProgramRecord::matmul_flops) *
        slice.topology.devices_per_chip());
    WarnOfEstimates(record->programs(record->steady_program()), record);
  }
  if (record->has_step_time()) {
    FillBand(record);
    FillRates(slice, record);
    record->set_bound(LargestBound(record->time_by_bound()));
  }
  FillCost(slice, record);
  record->set_config_hash(ConfigHash(record->config()));
  record->set_result_hash(ResultHash(*record));
}

std::string ConfigHash(const record::RunConfig& config) {
  record::RunConfig c = config;
  c.clear_chip_text();   // the fingerprint stands for its numbers
  c.clear_hlo_source();  // the content's hash stands for the file
  return HashToHex(HashBytes(c.SerializeAsString()));
}

std::string ResultHash(const RunRecord& record) {
  RunRecord r = record;
  r.clear_run_id();
  r.clear_started_unix_ms();
  r.clear_result_hash();
  r.clear_tool();
  r.mutable_config()->clear_hlo_source();
  r.mutable_config()->clear_chip_text();
  for (record::CompileRecord& c : *r.mutable_compiles()) {
    c.clear_wall_ns();
    for (record::PassRecord& p : *c.mutable_passes()) p.clear_wall_ns();
  }
  return HashToHex(HashBytes(r.SerializeAsString()));
}

}  // namespace ptxla::driver

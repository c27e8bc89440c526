#include "reports/json_report.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "reports/hot_spots.h"
#include "reports/json_values.h"

namespace ptxla::reports {
namespace {

using Json = nlohmann::ordered_json;
using record::RunRecord;

constexpr int kTopOps = 10;

Json Seconds(int64_t ps) { return ToSeconds(Picoseconds(ps)); }

// Bytes that are not UTF-8 (from a user's file name) become U+FFFD.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

#define OR_NULL(message, field) \
  ((message).has_##field() ? Json((message).field()) : Json(nullptr))
#define SECONDS_OR_NULL(message, field) \
  ((message).has_##field() ? Seconds((message).field()) : Json(nullptr))

Json Config(const record::RunConfig& c) {
  return Json{
      {"workload", TextOrNull(c.workload())},
      {"hlo", TextOrNull(c.hlo_source())},
      {"phase", TextOrNull(c.phase())},
      {"topology", c.topology()},
      {"chip", c.chip()},
      {"num_chips", c.num_chips()},
      {"num_devices", c.num_devices()},
      {"num_hosts", c.num_hosts()},
      {"global_batch", OR_NULL(c, global_batch)},
      {"batch_per_chip", OR_NULL(c, batch_per_chip)},
      {"seq", OR_NULL(c, seq)},
      {"dtype", TextOrNull(c.dtype())},
      {"optimizer", TextOrNull(c.optimizer())},
      {"parallel", TextOrNull(c.parallel())},
      {"remat", TextOrNull(c.remat())},
      {"mode", TextOrNull(c.mode())},
      {"compiler", TextOrNull(c.compiler())},
      {"fidelity", c.fidelity()},
      {"steps", c.steps()},
      {"parameters", OR_NULL(c, parameters)},
      {"unknown_ops", c.estimate_unknown_ops() ? "estimate" : "error"},
      {"assumptions", Json(std::vector<std::string>(c.assumptions().begin(),
                                                    c.assumptions().end()))},
  };
}

Json Band(const record::Band& b, bool basis) {
  Json json{{"value", Seconds(b.value_ps())},
            {"low", Seconds(b.low_ps())},
            {"high", Seconds(b.high_ps())}};
  if (basis) json["basis"] = b.basis();
  return json;
}

Json TimeByBound(const record::BoundTimes& b) {
  return Json{
      {"mxu", Seconds(b.mxu_ps())},     {"vpu", Seconds(b.vpu_ps())},
      {"hbm", Seconds(b.hbm_ps())},     {"ici", Seconds(b.ici_ps())},
      {"dcn", Seconds(b.dcn_ps())},     {"host", Seconds(b.host_ps())},
      {"input", Seconds(b.input_ps())}, {"overhead", Seconds(b.overhead_ps())}};
}

Json Memory(const record::MemoryRecord& m) {
  Json largest = Json::array();
  for (const record::BufferRecord& b : m.largest()) {
    largest.push_back({{"name", b.name()},
                       {"layer", TextOrNull(b.layer())},
                       {"kind", b.kind()},
                       {"bytes", b.bytes()}});
  }
  return Json{{"peak_bytes", m.peak_bytes()},
              {"usable_bytes", m.usable_bytes()},
              {"nominal_bytes", m.nominal_bytes()},
              {"verdict", m.verdict()},
              {"argument", m.argument_bytes()},
              {"output", m.output_bytes()},
              {"alias", m.alias_bytes()},
              {"temp", m.temp_bytes()},
              {"code", m.code_bytes()},
              {"largest", std::move(largest)}};
}

Json Compile(const RunRecord& run) {
  if (!run.has_first_steps()) return nullptr;
  return Json{{"count", run.first_steps().compiles()},
              {"predicted_s", Band(run.first_steps().compile(), false)},
              {"basis", TextOrNull(run.first_steps().compile().basis())}};
}

Json Cost(const RunRecord& run) {
  if (!run.has_cost()) return nullptr;
  const record::PriceRecord& p = run.cost().price();
  return Json{{"usd_per_million_samples",
               run.cost().usd_per_million_samples() > 0
                   ? Json(run.cost().usd_per_million_samples())
                   : Json(nullptr)},
              {"usd_once", run.cost().usd_once()},
              {"price",
               {{"usd_per_chip_hour", p.usd_per_chip_hour()},
                {"region", p.region()},
                {"kind", p.kind()},
                {"date", p.date()},
                {"source", p.source()}}}};
}

Json TopOps(const RunRecord& run) {
  Json ops = Json::array();
  if (!run.has_steady_program()) return ops;
  for (const HotSpot& s : HotSpots(run.programs(run.steady_program()))) {
    if (ops.size() == kTopOps) break;
    ops.push_back(
        {{"name", s.name},
         {"layer", TextOrNull(s.layer)},
         {"count", s.count},
         {"time_s", ToSeconds(s.time)},
         {"share", run.has_step_time() ? Json(ToSeconds(s.time) /
                                              ToSeconds(Picoseconds(
                                                  run.step_time().value_ps())))
                                       : Json(nullptr)},
         {"bound", s.bound},
         {"fraction_of_peak", s.fraction_of_peak.has_value()
                                  ? Json(*s.fraction_of_peak)
                                  : Json(nullptr)},
         {"estimated", s.estimated}});
  }
  return ops;
}

Json Assumed(const RunRecord& run) {
  Json list = Json::array();
  for (const record::AssumedRecord& a : run.assumed()) {
    Json effect = nullptr;
    if (a.has_effect_ps() && run.step_time().value_ps() > 0) {
      effect = static_cast<double>(a.effect_ps()) /
               static_cast<double>(run.step_time().value_ps());
    }
    list.push_back({{"name", a.name()},
                    {"value", a.value()},
                    {"unit", a.unit()},
                    {"effect_on_step", std::move(effect)}});
  }
  return list;
}

Json Status(const record::StatusRecord& s) {
  return Json{{"code", s.code()},
              {"message", TextOrNull(s.message())},
              {"where", TextOrNull(s.where())}};
}

}  // namespace

std::string RunJson(const RunRecord& run) {
  const bool timed = run.has_step_time();
  Json json{
      {"schema_version", kJsonSchemaVersion},
      {"run_id", run.run_id()},
      {"config_hash", run.config_hash()},
      {"result_hash", run.result_hash()},
      {"status", Status(run.status())},
      {"config", Config(run.config())},
      {"step_time_s", timed ? Band(run.step_time(), true) : Json(nullptr)},
      {"throughput", run.has_throughput()
                         ? Json{{"value", run.throughput()},
                                {"unit", run.config().sample_unit() + "/s"}}
                         : Json(nullptr)},
      {"mfu", OR_NULL(run, mfu)},
      {"hfu", OR_NULL(run, hfu)},
      {"model_flops_per_step_per_chip",
       OR_NULL(run, model_flops_per_step_per_chip)},
      {"matmul_flops_per_step_per_chip",
       OR_NULL(run, matmul_flops_per_step_per_chip)},
      {"time_by_bound_s",
       timed ? TimeByBound(run.time_by_bound()) : Json(nullptr)},
      {"bound", TextOrNull(run.bound())},
      {"device_time_s", SECONDS_OR_NULL(run, device_time_ps)},
      {"trace_time_s", SECONDS_OR_NULL(run, trace_time_ps)},
      {"memory", run.has_memory() ? Memory(run.memory()) : Json(nullptr)},
      {"compile", Compile(run)},
      {"cost", Cost(run)},
      {"top_ops", TopOps(run)},
      {"assumed", Assumed(run)},
      {"warnings", Json(std::vector<std::string>(run.warnings().begin(),
                                                 run.warnings().end()))},
      {"tool",
       {{"version", run.tool().version()},
        {"wall_s", run.tool().wall_s()},
        {"peak_rss_bytes", run.tool().peak_rss_bytes()}}}};
  return Dump(json);
}

std::string ErrorJson(const absl::Status& status, absl::string_view where) {
  record::StatusRecord record;
  record.set_code(absl::StatusCodeToString(status.code()));
  record.set_message(std::string(status.message()));
  record.set_where(std::string(where));
  return Dump(
      Json{{"schema_version", kJsonSchemaVersion}, {"status", Status(record)}});
}

}  // namespace ptxla::reports

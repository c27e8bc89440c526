#include <nlohmann/json.hpp>

#include "base/units.h"
#include "reports/explanation.h"
#include "reports/json_report.h"
#include "reports/json_values.h"

namespace ptxla::reports {
namespace {

using Json = nlohmann::ordered_json;
using record::Explanation;

Json SecondsOf(int64_t ps) { return ToSeconds(Picoseconds(ps)); }

Json Arrays(const Explanation& e) {
  Json list = Json::array();
  for (const record::ExplainedArg& a : e.args()) {
    list.push_back(Json{{"name", a.name()},
                        {"shape", a.shape()},
                        {"space", a.space()},
                        {"bytes", a.bytes()}});
  }
  return list;
}

Json Windows(const Explanation& e) {
  Json list = Json::array();
  for (const record::ExplainedWindow& w : e.windows()) {
    list.push_back(Json{{"arg", w.arg()},
                        {"direction", w.direction()},
                        {"copied", w.copied()},
                        {"block_bytes", w.block_bytes()},
                        {"transfers", w.transfers()},
                        {"bytes", w.bytes()},
                        {"slots", w.slots()},
                        {"moves_with", w.moves_with()}});
  }
  return list;
}

Json Losses(const Explanation& e) {
  Json list = Json::array();
  for (const record::Loss& l : e.losses()) {
    list.push_back(
        Json{{"cause", l.cause()}, {"cycles", l.cycles()}, {"what", l.what()}});
  }
  return list;
}

Json Units(const Explanation& e) {
  Json list = Json::array();
  for (const record::ExplainedUnit& u : e.units()) {
    list.push_back(Json{{"name", u.name()},
                        {"ways", u.ways()},
                        {"uses", u.uses()},
                        {"least_cycles", u.cycles()},
                        {"utilisation", u.utilisation()}});
  }
  return list;
}

Json Tilings(const Explanation& e) {
  Json list = Json::array();
  for (const record::ExplainedTiling& t : e.tilings()) {
    list.push_back(Json{{"what", t.what()},
                        {"chosen", t.chosen()},
                        {"cost_cycles", t.cost_cycles()},
                        {"step_cycles", t.step_cycles()},
                        {"vmem_bytes", t.vmem_bytes()},
                        {"refused", TextOrNull(t.refused())}});
  }
  return Json{{"considered", e.tilings_considered()},
              {"too_large", e.tilings_too_large()},
              {"best", std::move(list)}};
}

Json Blocks(const Explanation& e) {
  Json list = Json::array();
  for (const record::ExplainedBlock& b : e.blocks()) {
    list.push_back(Json{{"phase", b.phase()},
                        {"step_class", b.step_class()},
                        {"label", b.label()},
                        {"depth", b.depth()},
                        {"trips", b.trips()},
                        {"runs", b.runs()},
                        {"bundles", b.bundles()},
                        {"cycles", b.cycles()},
                        {"total_cycles", b.total_cycles()},
                        {"work_cycles", b.work_cycles()},
                        {"listing", b.listing()}});
  }
  return list;
}

}  // namespace

std::string ExplanationJson(const Explanation& e) {
  Json json{{"schema_version", kJsonSchemaVersion},
            {"asked", e.asked()},
            {"op", e.op()},
            {"opcode", e.opcode()},
            {"found", TextOrNull(e.found())},
            {"hlo", TextOrNull(e.hlo())},
            {"layer", TextOrNull(e.layer())},
            {"source", TextOrNull(e.source())},
            {"program", e.program()},
            {"topology", e.slice()},
            {"chip", e.chip()},
            {"executions", e.executions()},
            {"total_s", SecondsOf(e.total_ps())},
            {"program_s", SecondsOf(e.program_ps())},
            {"time_s", SecondsOf(e.time_ps())},
            {"cycles", e.cycles()},
            {"clock_hz", e.clock_hz()},
            {"bound", e.bound()},
            {"estimated", e.estimated()}};
  if (e.kernel().empty()) {
    json["kernel"] = nullptr;
    json["plain"] = e.plain();
  } else {
    json["kernel"] =
        Json{{"name", e.kernel()},
             {"note", e.note()},
             {"calls", e.calls_of_kernel()},
             {"core", e.core()},
             {"cores", e.cores()},
             {"grid", std::vector<int64_t>(e.grid().begin(), e.grid().end())},
             {"megacore_dim",
              e.megacore_dim() < 0 ? Json(nullptr) : Json(e.megacore_dim())},
             {"grid_steps", e.grid_steps()},
             {"all_grid_steps", e.all_grid_steps()},
             {"vmem_bytes", e.vmem_bytes()},
             {"flops", e.flops()},
             {"hbm_bytes", e.hbm_bytes()},
             {"hbm_busy_cycles", e.hbm_busy_cycles()},
             {"hbm_peak_bytes_per_s", e.hbm_peak_bytes_per_s()},
             {"arrays", Arrays(e)},
             {"windows", Windows(e)},
             {"main_unit", e.main_unit()},
             {"losses", Losses(e)},
             {"units", Units(e)},
             {"tilings", Tilings(e)},
             {"blocks", Blocks(e)}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ptxla::reports

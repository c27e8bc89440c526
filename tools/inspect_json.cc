#include <nlohmann/json.hpp>

#include "reports/json_report.h"
#include "reports/json_values.h"
#include "tools/inspect_report.h"

namespace ptxla::tools {
namespace {

using driver::InspectedCost;
using driver::InspectedInstruction;
using driver::InspectedOp;
using driver::Inspection;
using Json = nlohmann::ordered_json;

using reports::TextOrNull;
Json OrNull(int64_t number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

void AddCost(const InspectedCost& cost, Json* to) {
  (*to)["flops"] = cost.flops;
  (*to)["transcendentals"] = cost.transcendentals;
  (*to)["bytes"] = cost.bytes;
  (*to)["intensity"] =
      cost.bytes > 0 ? Json(cost.flops / cost.bytes) : Json(nullptr);
  (*to)["roofline_s"] = cost.roofline_s;
  (*to)["cost_known"] = !cost.unknown_cost;
}

Json OpJson(const InspectedOp& op, bool known, bool is_total) {
  Json json;
  if (!is_total) {
    json["opcode"] = op.opcode;
    json["target"] = TextOrNull(op.target);
  }
  json["count"] = op.count;
  AddCost(op, &json);
  json["kernels"] = known ? Json(op.kernels) : Json(nullptr);
  json["scheduled"] = known ? Json(op.scheduled) : Json(nullptr);
  json["refused"] = known ? Json(op.refused) : Json(nullptr);
  json["free"] = known ? Json(op.free) : Json(nullptr);
  return json;
}

Json InstructionJson(const InspectedInstruction& i, bool known) {
  Json json{{"name", i.name},
            {"opcode", i.opcode},
            {"shape", i.shape},
            {"line", OrNull(i.line)},
            {"layer", TextOrNull(i.layer)},
            {"source", TextOrNull(i.source)},
            {"times", i.times},
            {"bound", i.bound}};
  AddCost(i, &json);
  json["on_tpu"] = !known      ? Json(nullptr)
                   : i.support ? Json(driver::OpSupportName(*i.support))
                               : Json("merged");
  return json;
}

Json RunJson(const Inspection& i) {
  Json refused = Json::array();
  for (const driver::RefusedOp& r : i.refused) {
    refused.push_back({{"kernel", r.name},
                       {"opcode", r.opcode},
                       {"instruction", TextOrNull(r.instruction)},
                       {"line", OrNull(r.line)},
                       {"calls", r.calls},
                       {"reason", r.reason}});
  }
  return Json{{"topology", i.slice},
              {"runs", i.blocked.empty() && i.refused.empty() &&
                           i.unknown_loops.empty()},
              {"blocked", TextOrNull(i.blocked)},
              {"kernels", i.kernels},
              {"distinct_kernels", i.distinct_kernels},
              {"refused", std::move(refused)},
              {"unknown_loops", i.unknown_loops},
              {"elided_constants", i.elided_constants}};
}

}  // namespace

std::string InspectionJson(const Inspection& i, const chips::ChipSpec& chip) {
  const bool known = i.compiled && i.blocked.empty();
  Json rows = Json::array(), instructions = Json::array();
  for (const InspectedOp& op : i.rows) {
    rows.push_back(OpJson(op, known, /*is_total=*/false));
  }
  for (const InspectedInstruction& item : i.instructions) {
    instructions.push_back(InstructionJson(item, known));
  }
  return Json{{"schema_version", reports::kJsonSchemaVersion},
              {"file", i.path},
              {"format", i.format},
              {"module", i.module},
              {"chip", chip.name()},
              {"computations", i.computations},
              {"instructions", i.instruction_count},
              {"devices", i.devices},
              {"is_scheduled", i.scheduled},
              {"warnings", i.warnings},
              {"parameters", i.parameters},
              {"parameter_bytes", i.parameter_bytes},
              {"output_bytes", i.output_bytes},
              {"ops", std::move(rows)},
              {"total", OpJson(i.total, known, /*is_total=*/true)},
              {"most_expensive", std::move(instructions)},
              {"run", i.compiled ? RunJson(i) : Json(nullptr)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace ptxla::tools

#include "driver/inspect.h"

#include <algorithm>
#include <map>

#include "base/status.h"
#include "driver/hlo_input.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::driver {
namespace {

void Add(const hlo::Cost& cost, const chips::ChipSpec& chip, InspectedOp* row) {
  ++row->count;
  row->flops += cost.flops;
  row->transcendentals += cost.transcendentals;
  row->bytes += cost.bytes_accessed;
  row->unknown_cost |= cost.unknown_ops > 0;
  const double vector_flops =
      cost.flops - cost.matmul_flops + cost.transcendentals;
  row->roofline_s += std::max(
      {cost.matmul_flops / chip.PeakMatmul(chips::MatmulType::kBf16).count(),
       vector_flops / chip.PeakVpu().count(),
       cost.bytes_accessed / chip.hbm().bandwidth.count()});
}

}  // namespace

absl::StatusOr<Inspection> Inspect(const std::string& path,
                                   const chips::ChipSpec& chip) {
  ASSIGN_OR_RETURN(const HloInput input, ReadHlo(path));
  const hlo::Module& module = *input.module;
  Inspection result;
  result.module = module.name();
  result.entry = module.entry()->name();
  result.computations = static_cast<int64_t>(module.computations().size());
  result.instructions = module.instruction_count();
  result.devices = module.DeviceCount();
  result.scheduled = module.config().is_scheduled;
  hlo::CostAnalysis costs;
  std::map<std::string, InspectedOp> rows;
  for (const hlo::Instruction* i : module.entry()->instructions()) {
    if (i->opcode() == hlo::Opcode::kParameter) {
      ++result.parameters;
      result.parameter_bytes += i->shape().ByteSize();
      continue;
    }
    const hlo::Cost cost = costs.Of(*i);
    InspectedOp& row = rows[std::string(hlo::OpcodeName(i->opcode()))];
    Add(cost, chip, &row);
    Add(cost, chip, &result.total);
  }
  result.output_bytes = module.entry()->root()->shape().ByteSize();
  for (auto& [opcode, row] : rows) {
    row.opcode = opcode;
    result.rows.push_back(row);
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const InspectedOp& a, const InspectedOp& b) {
                     return a.roofline_s > b.roofline_s;
                   });
  return result;
}

}  // namespace ptxla::driver

#include "hlo_backend/compiler/chip_cost_model.h"

#include <algorithm>

#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

Picoseconds ChipCostModel::HbmTime(Bytes bytes) const {
  const chips::HbmSpec& hbm = chip_.hbm();
  const BytesPerSecond rate(chip_.hbm_bandwidth_per_device().count() *
                            hbm.efficiency_read);
  return bytes / rate;
}

Picoseconds ChipCostModel::OpTime(const Instruction& instruction) const {
  CostAnalysis costs;
  const Cost cost = costs.Of(instruction);
  int64_t bytes = 0;
  for (const Instruction* operand : instruction.operands()) {
    if (operand->shape().IsArray() &&
        operand->shape().memory_space() == kMemoryHbm) {
      bytes += SizeOf(operand->shape()).count();
    }
  }
  ForEachLeaf(instruction.shape(), [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray() && leaf.memory_space() == kMemoryHbm) {
      bytes += SizeOf(leaf).count();
    }
  });
  // Peak: every MXU of the device's cores makes one product of its array per
  // cycle and row.
  const chips::CoreSpec& core = chip_.core();
  const double peak = 2.0 * core.mxus * core.mxu_rows * core.mxu_cols *
                      core.cores_in_use * core.clock.frequency().count();
  const Picoseconds compute(cost.matmul_flops / peak * 1e12);
  return std::max(compute, HbmTime(Bytes(bytes)));
}

Picoseconds ChipCostModel::AsyncTime(const Instruction& start) const {
  return OpTime(start);
}

Bytes ChipCostModel::SizeOf(const Shape& shape) const {
  return Bytes(TpuBytes(shape, chip_.generation()));
}

Bytes ChipCostModel::VmemCapacity() const { return chip_.vmem().usable; }

}  // namespace ptxla::hlo

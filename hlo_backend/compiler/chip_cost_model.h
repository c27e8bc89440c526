// The cost model that passes get in the compiler: rooflines of one chip.
//
// OpTime is the larger of FLOPs over the matrix unit's peak and bytes over the
// HBM's efficient rate (bytes in VMEM are free), by hlo::CostAnalysis.
#ifndef PTXLA_HLO_BACKEND_COMPILER_CHIP_COST_MODEL_H_
#define PTXLA_HLO_BACKEND_COMPILER_CHIP_COST_MODEL_H_

#include "chips/chip_spec.h"
#include "hlo_backend/analysis/cost_model.h"

namespace ptxla::hlo {

class ChipCostModel : public CostModel {
 public:
  // Keeps a reference.
  explicit ChipCostModel(const chips::ChipSpec& chip) : chip_(chip) {}

  Picoseconds OpTime(const Instruction& instruction) const override;
  Picoseconds HbmTime(Bytes bytes) const override;
  Picoseconds AsyncTime(const Instruction& start) const override;
  Bytes SizeOf(const Shape& shape) const override;
  Bytes VmemCapacity() const override;

 private:
  const chips::ChipSpec& chip_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_CHIP_COST_MODEL_H_

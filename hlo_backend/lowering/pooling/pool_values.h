// Arithmetic of windows on registers whose tiles do not matter: a packed
// register is two numbers per word, side by side.
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_VALUES_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

class PoolValues {
 public:
  // `apart`: the halves of a word have a mask each.
  PoolValues(hlo::Opcode op, hlo::PrimitiveType type,
             const isa::MachineModel& model, bool apart = false);

  // What a register of memory is computed as: itself, or its two halves as f32.
  int parts() const { return parts_; }
  // VALU instructions of one combination, of taking apart, of putting together.
  int combine_ops() const { return parts_; }
  int take_ops() const { return parts_ == 2 ? 2 : 0; }

  // Leaves others alone under the operation: each part, and as memory holds it.
  uint32_t identity() const { return identity_; }
  uint32_t packed_identity() const;

  std::vector<codegen::Vec> Take(codegen::CodeBuilder& b, codegen::Vec v) const;
  codegen::Vec Put(codegen::CodeBuilder& b,
                   const std::vector<codegen::Vec>& parts) const;
  std::vector<codegen::Vec> Combine(codegen::CodeBuilder& b,
                                    const std::vector<codegen::Vec>& x,
                                    const std::vector<codegen::Vec>& y) const;
  std::vector<codegen::Vec> Identity(codegen::CodeBuilder& b) const;

 private:
  hlo::Opcode op_;
  hlo::PrimitiveType type_;
  int parts_ = 1;
  uint32_t identity_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_VALUES_H_

// What an operation of a Mosaic kernel costs per vector register: the very
// instructions that the same operation of HLO becomes (fusion/vector_math.h).
//
//   ElementwiseCosts costs(model);
//   const RegisterCost* exp = costs.Of("math.exp", /*is_float=*/true);
//   exp->slots[static_cast<int>(isa::Slot::kEup)]    // 1
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ELEMENTWISE_COST_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ELEMENTWISE_COST_H_

#include <array>
#include <optional>
#include <string>

#include "absl/container/node_hash_map.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct RegisterCost {
  std::array<int, isa::kNumSlots> slots{};  // instructions
  int latency = 1;                          // cycles, operands to result
};

class ElementwiseCosts {
 public:
  explicit ElementwiseCosts(const isa::MachineModel& model) : model_(model) {}

  // Null: not an elementwise operation that is known. `is_float` says what the
  // operands are.
  const RegisterCost* Of(const std::string& operation, bool is_float);

 private:
  std::optional<RegisterCost> Make(const std::string& operation,
                                   bool is_float) const;
  std::optional<RegisterCost> CostOf(codegen::CodeBuilder& code) const;

  const isa::MachineModel& model_;
  // At fixed places.
  absl::node_hash_map<std::string, std::optional<RegisterCost>> known_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ELEMENTWISE_COST_H_

// The operation of one node of an Expression on values in registers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_NODE_MATH_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_NODE_MATH_H_

#include "hlo_backend/lowering/fusion/expression.h"
#include "hlo_backend/lowering/fusion/turned_angles.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

// `inputs` are the node's; `wraps` as in EmitElementwise. `angles` (may be
// null): what sines and cosines of the block share.
inline absl::StatusOr<Value> EmitNode(codegen::CodeBuilder& b,
                                      const ExprNode& node,
                                      absl::Span<const Value> inputs,
                                      bool wraps = true,
                                      TurnedAngles* angles = nullptr) {
  if (node.folds_sign) return EmitWithSign(b, *node.instr, inputs[0]);
  if (node.rounds) return EmitRoundingConvert(b, *node.instr, inputs[0]);
  if (angles && hlo::IsFloat(node.type)) {
    if (node.instr->opcode() == hlo::Opcode::kSin) {
      return Value::Of(angles->Sine(b, inputs[0].vec));
    }
    if (node.instr->opcode() == hlo::Opcode::kCos) {
      return Value::Of(angles->Cosine(b, inputs[0].vec));
    }
  }
  return EmitElementwise(b, *node.instr, inputs, wraps);
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_NODE_MATH_H_

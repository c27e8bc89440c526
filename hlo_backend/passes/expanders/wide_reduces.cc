#include "hlo_backend/passes/expanders/wide_reduces.h"

#include <optional>
#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

// A start value stays a constant: kernels have no others.
Instruction* Widened(Instruction* value, const Shape& wide) {
  Computation* c = value->parent();
  if (value->opcode() != Opcode::kConstant || !value->shape().IsScalar() ||
      wide.type() != PrimitiveType::kF32) {
    return c->Add(Opcode::kConvert, wide, {value});
  }
  Instruction* constant = c->AddConstant(Literal::Scalar<float>(
      static_cast<float>(value->literal().GetDouble(0))));
  *constant->mutable_shape() = wide;
  return constant;
}

}  // namespace

void WidenReduces(Computation* c, int generation) {
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() != Opcode::kReduce || i->operand_count() != 2) continue;
    const std::optional<Opcode> op = MonoidOf(*i->to_apply());
    const PrimitiveType type = i->shape().type();
    if (!op || type == PrimitiveType::kPred || BitWidth(type) >= 32) continue;
    const PrimitiveType wide = IsFloat(type)      ? PrimitiveType::kF32
                               : IsUnsigned(type) ? PrimitiveType::kU32
                                                  : PrimitiveType::kS32;
    const auto in = [&](Shape shape) {
      shape.set_type(wide);
      return WithTpuLayout(shape, generation);
    };
    Computation* body = MonoidBody(*op, wide, c->module());
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(Widened(o, in(o->shape())));
    }
    Instruction* sum = c->Add(Opcode::kReduce, in(i->shape()), operands,
                              i->attributes(), {body});
    c->Replace(i, c->Add(Opcode::kConvert, i->shape(), {sum}));
  }
}

}  // namespace ptxla::hlo

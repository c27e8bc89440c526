#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::CompareDirection;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

// Uniform numbers in [0, 1) from random bits of the type's width, as many as
// its mantissa keeps, compared with the probability. bf16 takes 8 bits, of
// which 7 count: its probabilities are multiples of 1/128.
LoweringOutput LowerBernoulli(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const TensorShape& shape = x.node.shape();
  const PrimitiveType type = shape.type();
  const bool narrow = type == PrimitiveType::kBf16;
  const PrimitiveType bits_type =
      narrow ? PrimitiveType::kU8 : PrimitiveType::kU32;
  Instruction* low = e.Constant(0, type);
  Instruction* high = e.Constant(1, type);
  Instruction* seed = e.ConvertAlways(x.in[1], PrimitiveType::kU64);
  if (narrow) {
    low = e.ConvertAlways(low, type);
    high = e.ConvertAlways(high, type);
  }
  Instruction* counter = e.ConstantInt(0, PrimitiveType::kU64);
  seed = e.Reshape(seed, {1});
  Instruction* state = e.Concatenate({seed, e.Reshape(counter, {1})}, 0);
  Instruction* random =
      e.Emit(Opcode::kRngBitGenerator,
             Shape::Tuple({state->shape(),
                           Shape::ArrayRowMajor(bits_type, shape.dims())}),
             {state}, hlo::RngBitGeneratorAttrs{hlo::RngAlgorithm::kDefault});
  Instruction* bits = e.GetTupleElement(random, 1);
  e.GetTupleElement(random, 0);  // the next state, which nobody takes
  const int shift = narrow ? 1 : 9;
  bits = e.Binary(Opcode::kShiftRightLogical, bits,
                  e.ConstantInt(shift, bits_type));
  Instruction* unit = e.ConvertAlways(bits, type);
  unit = e.Binary(Opcode::kMultiply, unit,
                  e.Constant(narrow ? 0x1p-7 : 0x1p-23, type));
  Instruction* range = e.Binary(Opcode::kSubtract, high, low);
  Instruction* value =
      e.Binary(Opcode::kAdd, e.Binary(Opcode::kMultiply, unit, range), low);
  if (narrow) value = e.ConvertAlways(value, type);
  return {
      e.ConvertAlways(e.Compare(CompareDirection::kLt, value, x.in[0]), type)};
}

}  // namespace ptxla::lazy

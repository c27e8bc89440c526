#include "hlo_backend/passes/expanders/rare_op_expander.h"

#include <string>
#include <vector>

#include "base/hash.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/expanders/framework_calls.h"

namespace ptxla::hlo {
namespace {

class RareOpExpander {
 public:
  explicit RareOpExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  // Null: another instruction, or another form of it.
  Instruction* Expand() {
    switch (i_->opcode()) {
      case Opcode::kDomain:
        return i_->operand(0);
      case Opcode::kCopy:
        return i_->shape().IsTuple() ? CopyOfLeaves(i_->operand(0)) : nullptr;
      case Opcode::kAsyncDone:
        return Async();
      case Opcode::kGetDimensionSize:
        return DimensionSize();
      case Opcode::kScaledDot:
        return ScaledDot();
      case Opcode::kStochasticConvert:
        return StochasticConvert();
      case Opcode::kRng:
        return Rng();
      case Opcode::kReshape:
        return MixedReshape();
      case Opcode::kDynamicSlice:
        return WholeWordStarts(1);
      case Opcode::kDynamicUpdateSlice:
        return WholeWordStarts(2);
      case Opcode::kCustomCall:
        return ExpandFrameworkCall(i_);
      default:
        return nullptr;
    }
  }

 private:
  Instruction* Spread(Instruction* scalar, const Shape& shape) {
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }
  Instruction* U32(uint32_t value, const Shape& shape) {
    return Spread(b_.Constant(Literal::Scalar<uint32_t>(value)), shape);
  }
  Instruction* F32(float value, const Shape& shape) {
    return Spread(b_.Constant(Literal::Scalar<float>(value)), shape);
  }
  Instruction* As(Instruction* x, PrimitiveType type) {
    return b_.BitcastConvert(x, Shape::Array(type, x->shape().dims()));
  }
  Instruction* To(Instruction* x, PrimitiveType type) {
    return x->shape().type() == type ? x : b_.Convert(x, type);
  }

  Instruction* CopyOfLeaves(Instruction* x) {
    if (x->shape().IsArray()) return b_.Copy(x);
    if (!x->shape().IsTuple()) return x;
    std::vector<Instruction*> leaves;
    for (int k = 0; k < x->shape().element_count_of_tuple(); ++k) {
      leaves.push_back(CopyOfLeaves(b_.GetTupleElement(x, k)));
    }
    return b_.Tuple(leaves);
  }

  Instruction* Async() {
    Instruction* start = i_->operand(0);
    while (start->opcode() == Opcode::kAsyncUpdate) start = start->operand(0);
    if (start->opcode() != Opcode::kAsyncStart || start->called().empty()) {
      return nullptr;
    }
    const std::vector<Instruction*> operands(start->operands().begin(),
                                             start->operands().end());
    return b_.Call(start->called()[0], operands);
  }

  // TPU compilers write a conversion between floats into a reshape.
  Instruction* MixedReshape() {
    Instruction* x = i_->operand(0);
    const PrimitiveType type = i_->shape().type();
    if (x->shape().type() == type) return nullptr;
    return b_.Reshape(b_.Convert(x, type), i_->shape().dims());
  }

  // Starts of 8 and 16 bits as s32: the scalar unit has whole words.
  Instruction* WholeWordStarts(int first) {
    std::vector<Instruction*> operands(i_->operands().begin(),
                                       i_->operands().end());
    bool narrow = false;
    for (size_t k = static_cast<size_t>(first); k < operands.size(); ++k) {
      if (BitWidth(operands[k]->shape().type()) >= 32) continue;
      operands[k] = b_.Convert(operands[k], PrimitiveType::kS32);
      narrow = true;
    }
    return narrow ? i_->parent()->AddLike(*i_, i_->shape(), operands) : nullptr;
  }

  Instruction* DimensionSize() {
    const Shape& shape = i_->operand(0)->shape();
    const int d = static_cast<int>(i_->dimensions()[0]);
    if (shape.is_dynamic_dim(d)) return nullptr;
    return b_.Constant(
        Literal::Scalar<int32_t>(static_cast<int32_t>(shape.dim(d))));
  }

  static bool InBlocks(const Shape& x, const Shape& scale) {
    if (scale.IsScalar()) return true;
    if (scale.rank() != x.rank()) return false;
    for (int d = 0; d < x.rank(); ++d) {
      if (scale.dim(d) == 0 || x.dim(d) % scale.dim(d) != 0) return false;
    }
    return true;
  }

  // Each element times the scale of its block.
  Instruction* Scaled(Instruction* x, Instruction* scale, PrimitiveType type) {
    x = To(x, type);
    scale = To(scale, type);
    const Shape& shape = x->shape();
    if (scale->shape().IsScalar()) {
      return b_.Multiply(x, Spread(scale, shape));
    }
    DimVector blocked, from, reduced;
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t blocks = scale->shape().dim(d);
      from.push_back(static_cast<int64_t>(blocked.size()));
      blocked.push_back(blocks);
      blocked.push_back(shape.dim(d) / blocks);
    }
    Instruction* factor =
        b_.Reshape(b_.Broadcast(scale, blocked, from), shape.dims());
    return b_.Multiply(x, factor);
  }

  Instruction* ScaledDot() {
    const PrimitiveType type = kF32;
    if (!IsFloat(i_->operand(0)->shape().type()) ||
        !IsFloat(i_->operand(1)->shape().type()) ||
        !InBlocks(i_->operand(0)->shape(), i_->operand(2)->shape()) ||
        !InBlocks(i_->operand(1)->shape(), i_->operand(3)->shape())) {
      return nullptr;
    }
    Instruction* lhs = Scaled(i_->operand(0), i_->operand(2), type);
    Instruction* rhs = Scaled(i_->operand(1), i_->operand(3), type);
    const Shape shape = Shape::Array(type, i_->shape().dims());
    return To(b_.Emit(Opcode::kDot, {lhs, rhs}, i_->attributes(), {}, &shape),
              i_->shape().type());
  }

  // Magnitudes of bf16 are the upper halves of those of f32: the lower half is
  // the part of the gap.
  Instruction* StochasticConvert() {
    Instruction *x = i_->operand(0), *random = i_->operand(1);
    const PrimitiveType drawn = random->shape().type();
    if (i_->shape().type() != PrimitiveType::kBf16 ||
        x->shape().type() != kF32 ||
        (drawn != kU32 && drawn != PrimitiveType::kU16)) {
      return nullptr;
    }
    const Shape& shape = x->shape();
    Instruction* bits = As(x, kU32);
    Instruction* sign = b_.And(bits, U32(0x80000000u, shape));
    Instruction* size = b_.And(bits, U32(0x7fffffffu, shape));
    Instruction* part = b_.And(size, U32(0xffff, shape));
    if (drawn == kU32) part = b_.ShiftLeft(part, U32(16, shape));
    Instruction* up = b_.Compare(To(random, kU32), part, CompareDirection::kLt);
    Instruction* upper = b_.And(size, U32(0xffff0000u, shape));
    Instruction* rounded =
        b_.Add(upper, b_.Select(up, U32(0x10000, shape), U32(0, shape)));
    Instruction* value = As(b_.Or(rounded, sign), kF32);
    // Beyond the largest number, and NaN, as a conversion has it.
    Instruction* plain =
        b_.Compare(upper, U32(0x7f7f0000u, shape), CompareDirection::kGe);
    return b_.Convert(b_.Select(plain, x, value), PrimitiveType::kBf16);
  }

  Instruction* Draw(uint64_t stream, const Shape& shape) {
    Literal state(Shape::Array(PrimitiveType::kU64, {2}));
    state.SetInt(0, 0);
    state.SetInt(1, static_cast<int64_t>(stream));
    const Shape bits = Shape::Array(kU32, shape.dims());
    const Shape both =
        Shape::Tuple({Shape::Array(PrimitiveType::kU64, {2}), bits});
    RngBitGeneratorAttrs attrs;
    attrs.algorithm = RngAlgorithm::kDefault;
    return b_.GetTupleElement(
        b_.Emit(Opcode::kRngBitGenerator, {b_.Constant(std::move(state))},
                attrs, {}, &both),
        1);
  }
  // In [0, 1), by 23 bits.
  Instruction* Unit(Instruction* word) {
    const Shape& shape = word->shape();
    Instruction* top = b_.ShiftRightLogical(word, U32(9, shape));
    return b_.Multiply(b_.Convert(top, kF32), F32(0x1p-23f, shape));
  }

  Instruction* Rng() {
    const PrimitiveType type = i_->shape().type();
    const Shape& shape = i_->shape();
    const uint64_t stream = HashBytes(i_->name()) >> 1;
    const bool uniform =
        i_->attrs<RngAttrs>().distribution == RngDistribution::kUniform;
    if (IsInteger(type)) {
      if (!uniform || BitWidth(type) > 32) return nullptr;
      const PrimitiveType word = kU32;
      const auto wide = [&](Instruction* v) {
        const PrimitiveType full = IsSigned(type) ? PrimitiveType::kS32 : kU32;
        v = To(v, full);
        return Spread(full == word ? v : As(v, word), shape);
      };
      Instruction* low = wide(i_->operand(0));
      Instruction* range = b_.Subtract(wide(i_->operand(1)), low);
      // An empty range gives its start.
      Instruction* empty =
          b_.Compare(range, U32(0, shape), CompareDirection::kEq);
      Instruction* step = b_.Remainder(Draw(stream, shape),
                                       b_.Select(empty, U32(1, shape), range));
      Instruction* value = b_.Add(low, step);
      if (IsSigned(type)) value = As(value, PrimitiveType::kS32);
      return To(value, type);
    }
    if (!IsFloat(type)) return nullptr;
    const PrimitiveType real = type == PrimitiveType::kF64 ? type : kF32;
    Instruction* first = Spread(To(i_->operand(0), real), shape);
    Instruction* second = Spread(To(i_->operand(1), real), shape);
    Instruction* unit = Unit(Draw(stream, shape));
    if (uniform) {
      Instruction* value = b_.Add(
          first, b_.Multiply(b_.Subtract(second, first), To(unit, real)));
      return To(value, type);
    }
    Instruction* angle = b_.Multiply(Unit(Draw(stream + 1, shape)),
                                     F32(6.283185307179586f, shape));
    Instruction* radius = b_.Sqrt(
        b_.Multiply(F32(-2, shape), b_.Log(b_.Subtract(F32(1, shape), unit))));
    Instruction* normal = b_.Multiply(radius, b_.Cos(angle));
    return To(b_.Add(first, b_.Multiply(second, To(normal, real))), type);
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> RareOpExpanderPass::Run(Module* module,
                                             const PassContext&) {
  return ExpandEach(module,
                    [](Instruction* i) { return RareOpExpander(i).Expand(); });
}

}  // namespace ptxla::hlo

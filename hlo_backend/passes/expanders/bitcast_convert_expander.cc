#include "hlo_backend/passes/expanders/bitcast_convert_expander.h"

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

bool HasWidth(const Shape& shape) {
  const int bits = BitWidth(shape.type());
  return shape.type() != PrimitiveType::kPred &&
         (bits == 8 || bits == 16 || bits == 32);
}

PrimitiveType UnsignedOf(int bits) {
  return bits == 8    ? PrimitiveType::kU8
         : bits == 16 ? PrimitiveType::kU16
                      : kU32;
}

// Conversions give its bits; those of other small floats kernels have alone.
bool HasWordForm(PrimitiveType type) {
  return !IsFloat(type) || type == PrimitiveType::kBf16;
}

class BitcastConvertExpander {
 public:
  explicit BitcastConvertExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Expand() {
    const Shape& from = i_->operand(0)->shape();
    const Shape& to = i_->shape();
    if (!HasWidth(from) || !HasWidth(to)) return nullptr;
    const int bits = BitWidth(to.type()), old = BitWidth(from.type());
    if (bits == old) {
      return bits < 32 && HasWordForm(from.type()) && HasWordForm(to.type())
                 ? FromWords(ToWords(i_->operand(0)))
                 : nullptr;
    }
    return bits < old ? Parts(old / bits, bits) : Joined(bits / old, old);
  }

 private:
  static Shape Like(const Instruction* x, PrimitiveType type) {
    return Shape::Array(type, x->shape().dims());
  }

  // The bits of each element in a word of its own. Vector units have no view
  // of narrow elements as others; where a conversion keeps the bits, it does.
  Instruction* ToWords(Instruction* x) {
    const PrimitiveType type = x->shape().type();
    const int bits = BitWidth(type);
    if (bits == 32) {
      return type == kU32 ? x : b_.BitcastConvert(x, Like(x, kU32));
    }
    if (type == PrimitiveType::kBf16) {
      Instruction* wide = b_.Convert(x, PrimitiveType::kF32);
      Instruction* word = b_.BitcastConvert(wide, Like(x, kU32));
      return b_.ShiftRightLogical(word, All(16, word->shape()));
    }
    if (IsFloat(type)) x = b_.BitcastConvert(x, Like(x, UnsignedOf(bits)));
    Instruction* word = b_.Convert(x, kU32);
    return IsSigned(type) && IsInteger(type) ? LowBits(word, bits) : word;
  }

  Instruction* FromWords(Instruction* word) {
    const PrimitiveType type = i_->shape().type();
    const int bits = BitWidth(type);
    if (bits == 32) {
      return type == kU32 ? word : b_.BitcastConvert(word, Like(word, type));
    }
    if (type == PrimitiveType::kBf16) {
      word = b_.ShiftLeft(word, All(16, word->shape()));
      return b_.Convert(
          b_.BitcastConvert(word, Like(word, PrimitiveType::kF32)), type);
    }
    if (!IsFloat(type)) return b_.Convert(word, type);
    Instruction* narrow = b_.Convert(word, UnsignedOf(bits));
    return b_.BitcastConvert(narrow, Like(word, type));
  }

  Instruction* LowBits(Instruction* word, int bits) {
    return b_.And(word, All((1u << bits) - 1, word->shape()));
  }
  Instruction* All(uint32_t value, const Shape& shape) {
    Instruction* scalar = b_.Constant(Literal::Scalar<uint32_t>(value));
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }

  // `count` parts of `bits` bits, the lowest first.
  Instruction* Parts(int count, int bits) {
    Instruction* word = ToWords(i_->operand(0));
    DimVector dims = word->shape().dims();
    dims.push_back(1);
    std::vector<Instruction*> parts;
    for (int k = 0; k < count; ++k) {
      Instruction* part = b_.ShiftRightLogical(
          word, All(static_cast<uint32_t>(k * bits), word->shape()));
      parts.push_back(b_.Reshape(FromWords(LowBits(part, bits)), dims));
    }
    return b_.Concatenate(parts, static_cast<int64_t>(dims.size()) - 1);
  }

  // Words of `count` parts of `bits` bits.
  Instruction* Joined(int count, int bits) {
    Instruction* parts = ToWords(i_->operand(0));
    const DimVector& dims = parts->shape().dims();
    DimVector starts(dims.size(), 0), limits = dims;
    Instruction* word = nullptr;
    for (int k = 0; k < count; ++k) {
      starts.back() = k;
      limits.back() = k + 1;
      Instruction* part =
          b_.Reshape(b_.Slice(parts, starts, limits), i_->shape().dims());
      part = b_.ShiftLeft(part,
                          All(static_cast<uint32_t>(k * bits), part->shape()));
      word = word == nullptr ? part : b_.Or(word, part);
    }
    return FromWords(word);
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> BitcastConvertExpanderPass::Run(Module* module,
                                                     const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kBitcastConvert) continue;
      Instruction* expanded = BitcastConvertExpander(i).Expand();
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

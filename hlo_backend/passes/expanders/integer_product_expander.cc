#include "hlo_backend/passes/expanders/integer_product_expander.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

constexpr int kDigitBits = 8;
constexpr PrimitiveType kS8 = PrimitiveType::kS8;
constexpr PrimitiveType kS64 = PrimitiveType::kS64;

// Bytes are what arrays multiply.
bool IsWide(PrimitiveType type) {
  return IsInteger(type) && BitWidth(type) > kDigitBits;
}

// The product's form on bytes, as s32.
Instruction* OnBytes(const Instruction& product, Instruction* left,
                     Instruction* right, Builder* b) {
  Shape sums = product.shape();
  if (product.opcode() != Opcode::kConvolution) {
    sums.set_type(kS32);
    return product.parent()->AddLike(product, sums, {left, right});
  }
  sums.set_type(PrimitiveType::kF32);
  return b->Convert(
      product.parent()->AddLike(product, sums,
                                {b->Convert(left, PrimitiveType::kBf16),
                                 b->Convert(right, PrimitiveType::kBf16)}),
      kS32);
}

Instruction* ConvolutionOfBytes(Instruction* conv) {
  Builder b(conv->parent());
  b.set_metadata(conv->shared_metadata());
  Instruction* sums = OnBytes(*conv, conv->operand(0), conv->operand(1), &b);
  const PrimitiveType type = conv->shape().type();
  return type == kS32 ? sums : b.Convert(sums, type);
}

class IntegerProductExpander {
 public:
  explicit IntegerProductExpander(Instruction* product)
      : product_(product), b_(product->parent()) {
    b_.set_metadata(product->shared_metadata());
    const int bits = BitWidth(product->shape().type());
    if (bits == 64) word_ = kS64;
    places_ = std::max(1, bits / kDigitBits);
  }

  Instruction* Expand() {
    const std::vector<Instruction*> left = Digits(product_->operand(0));
    const std::vector<Instruction*> right = Digits(product_->operand(1));
    // By the place of their lowest bit.
    std::vector<Instruction*> sums(places_);
    for (int j = 0; j < static_cast<int>(left.size()); ++j) {
      for (int k = 0; k < static_cast<int>(right.size()) && j + k < places_;
           ++k) {
        Instruction* part = Word(OnBytes(*product_, left[j], right[k], &b_));
        Instruction*& sum = sums[j + k];
        sum = sum == nullptr ? part : b_.Add(sum, part);
      }
    }
    Instruction* value = sums[0];
    for (int place = 1; place < places_; ++place) {
      if (sums[place] == nullptr) continue;
      Instruction* shift = Number(kDigitBits * place, sums[place]->shape());
      value = b_.Add(value, b_.ShiftLeft(sums[place], shift));
    }
    const PrimitiveType type = product_->shape().type();
    return type == word_ ? value : b_.Convert(value, type);
  }

 private:
  Instruction* Word(Instruction* x) {
    return x->shape().type() == word_ ? x : b_.Convert(x, word_);
  }
  Instruction* Number(int value, const Shape& shape) {
    Instruction* scalar = b_.ConstantScalar(word_, value);
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }

  // The digits in [-128, 127] that a number of this type has: one more than
  // bytes where the largest of them carries, but none beyond the result.
  int DigitsOf(PrimitiveType type) const {
    if (type == kS8 || BitWidth(type) < kDigitBits) return 1;
    return std::min(places_, BitWidth(type) / kDigitBits + 1);
  }

  std::vector<Instruction*> Digits(Instruction* x) {
    const int count = DigitsOf(x->shape().type());
    if (count == 1) return {x};
    x = Word(x);
    std::vector<Instruction*> digits;
    for (int k = 0; k < count; ++k) {
      digits.push_back(b_.Convert(x, kS8));
      if (k + 1 == count) break;
      x = b_.ShiftRightArithmetic(b_.Subtract(x, Word(digits.back())),
                                  Number(kDigitBits, x->shape()));
    }
    return digits;
  }

  Instruction* product_;
  Builder b_;
  PrimitiveType word_ = PrimitiveType::kS32;
  int places_ = 0;  // of digits in the result
};

}  // namespace

absl::StatusOr<bool> IntegerProductExpanderPass::Run(Module* module,
                                                     const PassContext&) {
  return ExpandEach(module, [](Instruction* i) -> Instruction* {
    if ((i->opcode() != Opcode::kDot && i->opcode() != Opcode::kConvolution) ||
        i->operand_count() != 2) {
      return nullptr;
    }
    const PrimitiveType left = i->operand(0)->shape().type();
    const PrimitiveType right = i->operand(1)->shape().type();
    const PrimitiveType result = i->shape().type();
    if (!IsInteger(left) || !IsInteger(right) || !IsInteger(result)) {
      return nullptr;
    }
    if (!IsWide(left) && !IsWide(right) && BitWidth(result) <= 32) {
      return i->opcode() == Opcode::kConvolution ? ConvolutionOfBytes(i)
                                                 : nullptr;
    }
    return IntegerProductExpander(i).Expand();
  });
}

}  // namespace ptxla::hlo

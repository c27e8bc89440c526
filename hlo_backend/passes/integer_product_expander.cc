#include "hlo_backend/passes/integer_product_expander.h"

#include <algorithm>
#include <array>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expand_each.h"

namespace ptxla::hlo {
namespace {

constexpr int kDigits = 4;  // of 32 bits
constexpr int kDigitBits = 8;
constexpr PrimitiveType kS8 = PrimitiveType::kS8;
constexpr PrimitiveType kS32 = PrimitiveType::kS32;

bool IsWide(PrimitiveType type) {
  return IsInteger(type) && (BitWidth(type) == 16 || BitWidth(type) == 32);
}

// The digits in [-128, 127] that a number of this type has. One more than bytes
// where the largest of them carries, but none beyond 32 bits.
int DigitsOf(PrimitiveType type) {
  if (type == kS8 || BitWidth(type) < kDigitBits) return 1;
  return std::min(kDigits, BitWidth(type) / kDigitBits + 1);
}

class Expander {
 public:
  explicit Expander(Instruction* product)
      : product_(product), b_(product->parent()) {
    b_.set_metadata(product->shared_metadata());
  }

  Instruction* Expand() {
    const std::vector<Instruction*> left = Digits(product_->operand(0));
    const std::vector<Instruction*> right = Digits(product_->operand(1));
    Shape words = product_->shape();
    words.set_type(kS32);
    // By the place of their lowest bit.
    std::array<Instruction*, kDigits> sums = {};
    for (size_t j = 0; j < left.size(); ++j) {
      for (size_t k = 0; k < right.size() && j + k < kDigits; ++k) {
        Instruction* part =
            product_->parent()->AddLike(*product_, words, {left[j], right[k]});
        Instruction*& sum = sums[j + k];
        sum = sum == nullptr ? part : b_.Add(sum, part);
      }
    }
    Instruction* value = sums[0];
    for (int place = 1; place < kDigits; ++place) {
      if (sums[place] == nullptr) continue;
      value = b_.Add(value,
                     b_.ShiftLeft(sums[place], Int(kDigitBits * place, words)));
    }
    const PrimitiveType type = product_->shape().type();
    return type == kS32 ? value : b_.Convert(value, type);
  }

 private:
  Instruction* Int(int32_t value, const Shape& shape) {
    Instruction* scalar = b_.Constant(Literal::Scalar<int32_t>(value));
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }

  std::vector<Instruction*> Digits(Instruction* x) {
    const int count = DigitsOf(x->shape().type());
    if (count == 1) return {x};
    if (x->shape().type() != kS32) x = b_.Convert(x, kS32);
    std::vector<Instruction*> digits;
    for (int k = 0; k < count; ++k) {
      digits.push_back(b_.Convert(x, kS8));
      if (k + 1 == count) break;
      x = b_.ShiftRightArithmetic(
          b_.Subtract(x, b_.Convert(digits.back(), kS32)),
          Int(kDigitBits, x->shape()));
    }
    return digits;
  }

  Instruction* product_;
  Builder b_;
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
    if (!IsInteger(left) || !IsInteger(right) || !IsInteger(result) ||
        BitWidth(result) > 32 || (!IsWide(left) && !IsWide(right)) ||
        BitWidth(left) > 32 || BitWidth(right) > 32) {
      return nullptr;
    }
    return Expander(i).Expand();
  });
}

}  // namespace ptxla::hlo

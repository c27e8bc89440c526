#include "hlo_backend/lowering/products/product_numbers.h"

#include <algorithm>

#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {
namespace {

using hlo::DotAlgorithm;
using hlo::PrimitiveType;
using isa::Opcode;

bool FitsS8(PrimitiveType type) {
  return type == PrimitiveType::kS8 || type == PrimitiveType::kS4 ||
         type == PrimitiveType::kU4;
}

// Of f32 operands.
int PartsOf(const hlo::DotAttrs& dot) {
  switch (dot.precision.algorithm) {
    case DotAlgorithm::kBf16Bf16F32X3:
    case DotAlgorithm::kTf32Tf32F32:
      return 2;
    case DotAlgorithm::kBf16Bf16F32X6:
    case DotAlgorithm::kBf16Bf16F32X9:
    case DotAlgorithm::kTf32Tf32F32X3:
    case DotAlgorithm::kF32F32F32:
      return 3;
    case DotAlgorithm::kUnset:
      break;
    default:
      return 1;
  }
  const hlo::Precision most =
      std::max(dot.precision.operand(0), dot.precision.operand(1));
  return most == hlo::Precision::kHighest ? 3
         : most == hlo::Precision::kHigh  ? 2
                                          : 1;
}

}  // namespace

bool IsProductType(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF32:
    case PrimitiveType::kBf16:
    case PrimitiveType::kF16:
    case PrimitiveType::kS8:
    case PrimitiveType::kU8:
    case PrimitiveType::kS4:
    case PrimitiveType::kU4:
      return true;
    default:
      return SmallFloatFormatOf(type).has_value();
  }
}

ArrayNumbers NumbersOf(const isa::MachineModel& model, PrimitiveType lhs,
                       PrimitiveType rhs, PrimitiveType result,
                       bool lhs_transposed) {
  if (lhs_transposed) return ArrayNumbers::kBf16;
  if (FitsS8(lhs) && FitsS8(rhs) && hlo::IsInteger(result)) {
    const bool fours = lhs == PrimitiveType::kS8 && rhs == PrimitiveType::kS8
                           ? true
                           : isa::Supports(model, Opcode::kVunpackCLS4);
    return fours && isa::Supports(model, Opcode::kVmatmulS8)
               ? ArrayNumbers::kS8
               : ArrayNumbers::kBf16;
  }
  if (lhs != rhs) return ArrayNumbers::kBf16;
  const auto native = [&](PrimitiveType type, ArrayNumbers numbers) {
    return lhs == type && isa::Supports(model, MatmulOf(numbers, true, 0));
  };
  if (native(PrimitiveType::kF8E5M2, ArrayNumbers::kF8E5M2)) {
    return ArrayNumbers::kF8E5M2;
  }
  if (native(PrimitiveType::kF8E4M3Fn, ArrayNumbers::kF8E4M3Fn)) {
    return ArrayNumbers::kF8E4M3Fn;
  }
  if (native(PrimitiveType::kF8E4M3B11Fnuz, ArrayNumbers::kF8E4M3B11)) {
    return ArrayNumbers::kF8E4M3B11;
  }
  return ArrayNumbers::kBf16;
}

std::vector<ProductPass> PassesOf(const hlo::DotAttrs& dot, PrimitiveType lhs,
                                  PrimitiveType rhs) {
  const int parts = PartsOf(dot);
  const auto of = [&](PrimitiveType t) {
    return t == PrimitiveType::kF32 ? parts : 1;
  };
  std::vector<ProductPass> passes;
  for (int sum = parts - 1; sum >= 0; --sum) {
    for (int i = 0; i < of(lhs); ++i) {
      if (sum - i >= 0 && sum - i < of(rhs)) passes.push_back({i, sum - i});
    }
  }
  return passes;
}

Opcode MatmulOf(ArrayNumbers numbers, bool bf16, int part) {
  switch (numbers) {
    case ArrayNumbers::kS8:
      return Opcode::kVmatmulS8;
    case ArrayNumbers::kF8E5M2:
      return Opcode::kVmatmulF8E5M2;
    case ArrayNumbers::kF8E4M3Fn:
      return Opcode::kVmatmulF8E4M3Fn;
    case ArrayNumbers::kF8E4M3B11:
      return Opcode::kVmatmulF8E4M3B11;
    case ArrayNumbers::kBf16:
      break;
  }
  if (bf16) return Opcode::kVmatmulBf16;
  return part == 0 ? Opcode::kVmatmulF32 : Opcode::kVmatmulF32Low;
}

Opcode PushOf(ArrayNumbers numbers, bool bf16, int part, bool transposed) {
  const auto either = [&](Opcode plain, Opcode xpose) {
    return transposed ? xpose : plain;
  };
  switch (numbers) {
    case ArrayNumbers::kS8:
      return either(Opcode::kVmatpushS8, Opcode::kVmatpushS8Xpose);
    case ArrayNumbers::kF8E5M2:
      return either(Opcode::kVmatpushF8E5M2, Opcode::kVmatpushF8E5M2Xpose);
    case ArrayNumbers::kF8E4M3Fn:
      return either(Opcode::kVmatpushF8E4M3Fn, Opcode::kVmatpushF8E4M3FnXpose);
    case ArrayNumbers::kF8E4M3B11:
      return either(Opcode::kVmatpushF8E4M3B11,
                    Opcode::kVmatpushF8E4M3B11Xpose);
    case ArrayNumbers::kBf16:
      break;
  }
  if (bf16) return either(Opcode::kVmatpushBf16, Opcode::kVmatpushBf16Xpose);
  return part == 0
             ? either(Opcode::kVmatpushF32, Opcode::kVmatpushF32Xpose)
             : either(Opcode::kVmatpushF32Low, Opcode::kVmatpushF32LowXpose);
}

int ConversionOperations(const isa::MachineModel& model, PrimitiveType type) {
  if (type == PrimitiveType::kF16) return UnpackF16Operations(model);
  if (const auto format = SmallFloatFormatOf(type)) {
    return 1 + UnpackSmallFloatOperations(*format);
  }
  if (hlo::BitWidth(type) == 8) return 2;
  return hlo::BitWidth(type) == 4 ? 3 : 0;
}

}  // namespace ptxla::lowering

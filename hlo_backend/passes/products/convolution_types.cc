#include "hlo_backend/passes/products/convolution_types.h"

#include <array>
#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

bool IsOfArrays(PrimitiveType t) {
  return t == PrimitiveType::kF32 || t == PrimitiveType::kBf16;
}

// Every value is a bf16.
bool IsSmallInteger(PrimitiveType t) {
  return IsInteger(t) && BitWidth(t) <= 8;
}

// Products that one element of the result adds up.
int64_t Terms(const Instruction& conv) {
  const ConvAttrs& a = conv.attrs<ConvAttrs>();
  int64_t terms = conv.operand(1)->shape().dim(
      static_cast<int>(a.dims.kernel_input_feature));
  for (const WindowDim& w : a.window.dims) terms *= w.size;
  return terms * (a.batch_group_count > 1 ? a.batch_group_count : 1);
}

bool SumsAreExact(const Instruction& conv) {
  int64_t largest = 1;
  for (int o = 0; o < 2; ++o) {
    const PrimitiveType t = conv.operand(o)->shape().type();
    largest <<= BitWidth(t) - (IsSigned(t) ? 1 : 0);
  }
  return Terms(conv) * largest <= int64_t{1} << 24;
}

}  // namespace

Instruction* OnArrayTypes(Instruction* conv) {
  const PrimitiveType result = conv->shape().type();
  std::array<PrimitiveType, 2> types;
  const ConvAttrs& attrs = conv->attrs<ConvAttrs>();
  bool integers = false, changes = !IsOfArrays(result);
  for (int o = 0; o < 2; ++o) {
    const PrimitiveType t = conv->operand(o)->shape().type();
    const bool narrow = IsFloat(t) && BitWidth(t) <= 16;
    if (!IsOfArrays(t) && !narrow && !IsSmallInteger(t)) return nullptr;
    integers |= IsInteger(t);
    types[o] =
        IsOfArrays(t) ? t
        : attrs.precision.operand(o) == Precision::kDefault || IsInteger(t)
            ? PrimitiveType::kBf16
            : PrimitiveType::kF32;
    changes |= types[o] != t;
  }
  const bool exact = !IsInteger(result) || (integers && SumsAreExact(*conv));
  if (!changes || !exact || !(IsFloat(result) || IsInteger(result))) {
    return nullptr;
  }
  Builder b(conv->parent());
  b.set_metadata(conv->shared_metadata());
  std::array<Instruction*, 2> x;
  for (int o = 0; o < 2; ++o) {
    x[o] = conv->operand(o);
    if (x[o]->shape().type() != types[o]) x[o] = b.Convert(x[o], types[o]);
  }
  const PrimitiveType sums = IsOfArrays(result) ? result : PrimitiveType::kF32;
  Instruction* on_arrays = conv->parent()->Add(
      Opcode::kConvolution, Shape::Array(sums, conv->shape().dims()),
      {x[0], x[1]}, attrs, {}, conv->name());
  on_arrays->set_metadata(conv->shared_metadata());
  return sums == result ? on_arrays : b.Convert(on_arrays, result);
}

}  // namespace ptxla::hlo

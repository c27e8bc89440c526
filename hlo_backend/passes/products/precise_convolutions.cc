#include "hlo_backend/passes/products/precise_convolutions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// Bits of bf16.
constexpr int kExponent = 8, kMantissa = 7;

bool IsPrecise(const Instruction& conv, int operand) {
  return conv.operand(operand)->shape().type() == PrimitiveType::kF32 &&
         conv.attrs<ConvAttrs>().precision.operand(operand) !=
             Precision::kDefault;
}

// A dot (pointwise_convolution.h).
bool IsOneTap(const Instruction& conv) {
  const auto& attrs = conv.attrs<ConvAttrs>();
  return attrs.feature_group_count == 1 && attrs.batch_group_count == 1 &&
         std::all_of(attrs.window.dims.begin(), attrs.window.dims.end(),
                     [](const WindowDim& w) {
                       return w.size == 1 && w.stride == 1 &&
                              w.base_dilation == 1 && w.padding_low == 0 &&
                              w.padding_high == 0;
                     });
}

// What `conv` reads as numbers of bf16 that add up to it, the largest first.
std::vector<Instruction*> PartsOf(Builder& b, const Instruction& conv,
                                  int operand) {
  Instruction* x = conv.operand(operand);
  if (!IsPrecise(conv, operand)) {
    return {x->shape().type() == PrimitiveType::kF32
                ? b.Convert(x, PrimitiveType::kBf16)
                : x};
  }
  const bool highest =
      conv.attrs<ConvAttrs>().precision.operand(operand) == Precision::kHighest;
  std::vector<Instruction*> parts;
  for (int left = highest ? 3 : 2; left > 0; --left) {
    Instruction* part = b.ReducePrecision(x, kExponent, kMantissa);
    parts.push_back(b.Convert(part, PrimitiveType::kBf16));
    if (left > 1) x = b.Subtract(x, part);
  }
  return parts;
}

Instruction* Expanded(Instruction* conv) {
  Builder b(conv->parent());
  b.set_metadata(conv->shared_metadata());
  const std::vector<Instruction*> x = PartsOf(b, *conv, 0),
                                  w = PartsOf(b, *conv, 1);
  const size_t digits = std::max(x.size(), w.size());
  std::vector<Instruction*> of_x, of_w;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t k = 0; k < w.size() && i + k < digits; ++k) {
      of_x.push_back(x[i]);
      of_w.push_back(w[k]);
    }
  }
  ConvAttrs attrs = conv->attrs<ConvAttrs>();
  attrs.precision = {};
  const auto convolve = [&](Instruction* of, Instruction* by) {
    Instruction* made = conv->parent()->Add(
        Opcode::kConvolution,
        Shape::Array(PrimitiveType::kF32, conv->shape().dims()), {of, by},
        attrs, {}, conv->name());
    made->set_metadata(conv->shared_metadata());
    return made;
  };
  Instruction* sum = nullptr;
  if (attrs.feature_group_count == 1) {
    sum = convolve(b.Concatenate(of_x, attrs.dims.input_feature),
                   b.Concatenate(of_w, attrs.dims.kernel_input_feature));
  } else {
    // The smallest first.
    for (size_t k = of_x.size(); k-- > 0;) {
      Instruction* one = convolve(of_x[k], of_w[k]);
      sum = sum == nullptr ? one : b.Add(sum, one);
    }
  }
  const PrimitiveType type = conv->shape().type();
  return type == PrimitiveType::kF32 ? sum : b.Convert(sum, type);
}

}  // namespace

absl::StatusOr<bool> PreciseConvolutionsPass::Run(Module* module,
                                                  const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution ||
          !(IsPrecise(*i, 0) || IsPrecise(*i, 1)) || IsOneTap(*i)) {
        continue;
      }
      c->Replace(i, Expanded(i));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

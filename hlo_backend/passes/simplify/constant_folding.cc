#include "hlo_backend/passes/simplify/constant_folding.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/fold_element.h"

namespace ptxla::hlo {
namespace {

bool IsSmall(const Literal& literal, const PassOptions& options) {
  return literal.IsSplat() ||
         literal.ElementCount() <= options.max_folded_elements;
}

// Every element of the result from the elements of the operands at the same
// place. Splats give a splat.
std::optional<Literal> FoldElementwise(const Instruction& i) {
  std::vector<const Literal*> operands;
  bool splat = true;
  for (const Instruction* o : i.operands()) {
    operands.push_back(&o->literal());
    if (!o->shape().SameDims(i.shape())) return {};
    splat &= o->literal().IsSplat() || o->shape().IsScalar();
  }
  if (splat) {
    Literal one(Shape::Scalar(i.shape().type()));
    if (!FoldElement(i, operands, 0, &one)) return {};
    return Literal::SplatBytes(i.shape(), one.bytes());
  }
  Literal result(i.shape());
  for (int64_t e = 0; e < result.ElementCount(); ++e) {
    if (!FoldElement(i, operands, e, &result)) return {};
  }
  return result;
}

// A result whose element at index x is the operand's at `source(x)`.
template <class Source>
Literal Gathered(const Shape& shape, const Literal& from, Source source) {
  if (from.IsSplat()) return Literal::SplatBytes(shape, from.bytes());
  std::vector<uint8_t> bytes;
  const int size = from.element_bytes();
  bytes.reserve(shape.ElementCount() * size);
  DimVector index(shape.rank(), 0);
  for (int64_t e = 0; e < shape.ElementCount(); ++e) {
    const DimVector at = source(index);
    int64_t linear = 0;
    for (int d = 0; d < from.shape().rank(); ++d) {
      linear = linear * from.shape().dim(d) + at[d];
    }
    const uint8_t* element = from.element(linear);
    bytes.insert(bytes.end(), element, element + size);
    for (int d = shape.rank(); d-- > 0;) {
      if (++index[d] < shape.dim(d)) break;
      index[d] = 0;
    }
  }
  return Literal::FromBytes(shape, std::move(bytes));
}

Literal Reshaped(const Shape& shape, const Literal& from) {
  if (from.IsSplat()) return Literal::SplatBytes(shape, from.bytes());
  return Literal::FromBytes(shape, {from.bytes().begin(), from.bytes().end()});
}

std::optional<Literal> FoldConcatenate(const Instruction& i) {
  const int d = static_cast<int>(i.dimensions()[0]);
  int64_t outer = 1, inner = i.operand(0)->literal().element_bytes();
  for (int k = 0; k < i.shape().rank(); ++k) {
    (k < d ? outer : inner) *= k == d ? 1 : i.shape().dim(k);
  }
  std::vector<uint8_t> bytes;
  for (int64_t o = 0; o < outer; ++o) {
    for (const Instruction* operand : i.operands()) {
      Literal part = operand->literal();
      absl::Span<uint8_t> all = part.mutable_bytes();
      const int64_t run = inner * operand->shape().dim(d);
      bytes.insert(bytes.end(), all.begin() + o * run,
                   all.begin() + (o + 1) * run);
    }
  }
  return Literal::FromBytes(i.shape(), std::move(bytes));
}

std::optional<Literal> Fold(const Instruction& i) {
  const Literal& x = i.operand(0)->literal();
  switch (i.opcode()) {
    case Opcode::kBitcastConvert:
      if (BitWidth(i.shape().type()) != BitWidth(x.shape().type())) return {};
      return Reshaped(i.shape(), x);
    case Opcode::kReshape:
      return Reshaped(i.shape(), x);
    case Opcode::kTranspose:
      return Gathered(i.shape(), x, [&](const DimVector& index) {
        DimVector at(index.size());
        for (size_t d = 0; d < index.size(); ++d) {
          at[i.dimensions()[d]] = index[d];
        }
        return at;
      });
    case Opcode::kSlice: {
      const SliceAttrs& attrs = i.attrs<SliceAttrs>();
      return Gathered(i.shape(), x, [&](const DimVector& index) {
        DimVector at(index.size());
        for (size_t d = 0; d < index.size(); ++d) {
          at[d] = attrs.starts[d] + index[d] * attrs.strides[d];
        }
        return at;
      });
    }
    case Opcode::kConcatenate:
      return FoldConcatenate(i);
    default:
      return i.IsElementwise() ? FoldElementwise(i) : std::nullopt;
  }
}

bool MayFold(const Instruction& i, const PassOptions& options) {
  if (i.operand_count() == 0 || !i.shape().IsArray() ||
      IsComplex(i.shape().type()) || i.HasSideEffect()) {
    return false;
  }
  if (BitWidth(i.shape().type()) < 8) return false;
  bool splat = true;
  for (const Instruction* o : i.operands()) {
    if (!o->IsConstant() || !o->shape().IsArray() || o->literal().IsElided() ||
        IsComplex(o->shape().type()) || BitWidth(o->shape().type()) < 8 ||
        !IsSmall(o->literal(), options)) {
      return false;
    }
    splat &= o->literal().IsSplat() || o->shape().IsScalar();
  }
  if (i.opcode() == Opcode::kConcatenate) splat = false;
  return splat || i.shape().ElementCount() <= options.max_folded_elements;
}

}  // namespace

absl::StatusOr<bool> ConstantFoldingPass::Run(Module* module,
                                              const PassContext& context) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    if (c->IsFusionComputation()) continue;
    for (Instruction* i : c->PostOrder()) {
      if (!MayFold(*i, context.options)) continue;
      std::optional<Literal> value = Fold(*i);
      if (!value.has_value()) continue;
      Instruction* constant = c->AddConstant(std::move(*value));
      *constant->mutable_shape() = i->shape();
      c->Replace(i, constant);
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo

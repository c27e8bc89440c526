#include <algorithm>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// Reads a constant index, clamped as dynamic-slice does.
bool ConstantStarts(const Instruction& slice, DimVector* starts) {
  const Shape& from = slice.operand(0)->shape();
  for (int d = 0; d < from.rank(); ++d) {
    const Instruction* index = slice.operand(1 + d);
    if (!index->IsConstant() || !index->shape().IsScalar()) return false;
    const int64_t last = from.dim(d) - slice.shape().dim(d);
    starts->push_back(std::clamp<int64_t>(index->literal().GetInt(0), 0, last));
  }
  return true;
}

Instruction* Concatenate(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> kept;
  for (Instruction* operand : i->operands()) {
    if (operand->shape().ElementCount() > 0) kept.push_back(operand);
  }
  if (kept.size() == 1) return kept[0];
  if (kept.empty() || static_cast<int>(kept.size()) == i->operand_count()) {
    return nullptr;
  }
  return r.builder().Concatenate(kept, i->dimensions()[0]);
}

Instruction* SliceOf(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (i->shape().SameDims(x->shape())) return x;
  if (Instruction* scalar = BroadcastScalarOf(*x)) {
    return r.builder().BroadcastScalar(scalar, i->shape().dims());
  }
  return nullptr;
}

}  // namespace

Instruction* SimplifySlicing(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout() || !i->shape().IsArray()) return nullptr;
  Builder& b = r.builder();
  switch (i->opcode()) {
    case Opcode::kIota: {
      const int64_t d = i->attrs<IotaAttrs>().dimension;
      if (i->shape().dim(static_cast<int>(d)) != 1) return nullptr;
      return b.BroadcastScalar(b.Zero(i->shape().type()), i->shape().dims());
    }
    case Opcode::kSlice:
      return SliceOf(i, r);
    case Opcode::kDynamicSlice: {
      if (i->shape().SameDims(i->operand(0)->shape())) return i->operand(0);
      DimVector starts, limits;
      if (i->operand_count() != 1 + i->shape().rank() ||
          !ConstantStarts(*i, &starts)) {
        return nullptr;
      }
      for (int d = 0; d < i->shape().rank(); ++d) {
        limits.push_back(starts[d] + i->shape().dim(d));
      }
      return b.Slice(i->operand(0), starts, limits);
    }
    case Opcode::kPad:
      return i->shape().SameDims(i->operand(0)->shape()) &&
                     std::all_of(
                         i->attrs<PadAttrs>().dims.begin(),
                         i->attrs<PadAttrs>().dims.end(),
                         [](const PaddingDim& p) { return p == PaddingDim(); })
                 ? i->operand(0)
                 : nullptr;
    case Opcode::kConcatenate:
      return Concatenate(i, r);
    case Opcode::kReverse: {
      for (int64_t d : i->dimensions()) {
        if (i->shape().dim(static_cast<int>(d)) != 1) return nullptr;
      }
      return i->operand(0);
    }
    default:
      return nullptr;
  }
}

}  // namespace ptxla::hlo

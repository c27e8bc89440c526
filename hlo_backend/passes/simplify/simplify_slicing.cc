#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// Reads constant indices, operands from `first` on, of a slice of `part` in
// `whole`; clamped as dynamic-slice does.
bool ConstantStarts(const Instruction& slice, int first, const Shape& whole,
                    const Shape& part, DimVector* starts) {
  if (slice.operand_count() != first + whole.rank()) return false;
  for (int d = 0; d < whole.rank(); ++d) {
    const Instruction* index = slice.operand(first + d);
    if (!index->IsConstant() || !index->shape().IsScalar()) return false;
    const int64_t last = whole.dim(d) - part.dim(d);
    const int64_t at = index->literal().GetInt(0);
    // A u64 of 2^63 and more does not fit: it is beyond every array.
    const bool beyond = at < 0 && IsUnsigned(index->shape().type());
    starts->push_back(beyond ? last : std::clamp<int64_t>(at, 0, last));
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

// A column beside rows of an array that has 1s in front, without them: a
// softmax of both (scores and a sink) has none either.
//   concatenate(f32[1,8,256] x, f32[1,8,1] y), dimensions={2}
//   ==> f32[1,8,257] reshape(concatenate(f32[8,256], f32[8,1]), dimensions={1})
Instruction* ColumnWithoutUnits(Instruction* i, Rewriter& r) {
  const DimVector& dims = i->shape().dims();
  const int minor = i->shape().rank() - 1;
  int units = 0;
  while (units + 1 < minor && dims[units] == 1) ++units;
  if (units == 0 || i->operand_count() != 2 || i->dimensions()[0] != minor ||
      i->operand(0)->shape().dim(minor) < kLanes ||
      i->operand(1)->shape().dim(minor) != 1) {
    return nullptr;
  }
  Builder& b = r.builder();
  std::vector<Instruction*> parts;
  for (Instruction* o : i->operands()) {
    const DimVector& whole = o->shape().dims();
    parts.push_back(
        b.Reshape(o, DimVector(whole.begin() + units, whole.end())));
  }
  return b.Reshape(b.Concatenate(parts, minor - units), i->shape().dims());
}

// A part of what is the same wherever it is cut; of all of it; null: neither.
Instruction* SliceOf(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (i->shape().SameDims(x->shape())) return x;
  if (Instruction* scalar = BroadcastScalarOf(*x)) {
    return r.builder().BroadcastScalar(scalar, i->shape().dims());
  }
  if (x->opcode() != Opcode::kBroadcast) return nullptr;
  for (int64_t d : x->dimensions()) {
    const int dim = static_cast<int>(d);
    if (i->shape().dim(dim) != x->shape().dim(dim)) return nullptr;
  }
  return r.builder().Broadcast(x->operand(0), i->shape().dims(),
                               x->dimensions());
}

// Part of one of the arrays that are put together, of what is padded or of what
// is cut already: of that array.
//   slice(concatenate(f32[8,3] a, f32[8,5] b), [0:8], [3:6])
//   ==> slice(b, [0:8], [0:3])
Instruction* SliceOfPart(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  const auto& attrs = i->attrs<SliceAttrs>();
  DimVector starts = attrs.starts, limits = attrs.limits,
            strides = attrs.strides;
  Instruction* from = nullptr;
  if (x->opcode() == Opcode::kSlice) {
    from = x->operand(0);
    const auto& inner = x->attrs<SliceAttrs>();
    for (size_t d = 0; d < starts.size(); ++d) {
      starts[d] = inner.starts[d] + starts[d] * inner.strides[d];
      limits[d] = inner.starts[d] + (limits[d] - 1) * inner.strides[d] + 1;
      strides[d] *= inner.strides[d];
    }
  } else if (x->opcode() == Opcode::kConcatenate) {
    const int64_t d = x->dimensions()[0];
    for (Instruction* part : x->operands()) {
      const int64_t size = part->shape().dim(static_cast<int>(d));
      if (starts[d] < size) {
        if (limits[d] <= size) from = part;
        break;
      }
      starts[d] -= size;
      limits[d] -= size;
    }
  } else if (x->opcode() == Opcode::kPad) {
    from = x->operand(0);
    const auto& padding = x->attrs<PadAttrs>().dims;
    for (size_t d = 0; d < starts.size(); ++d) {
      starts[d] -= padding[d].low;
      limits[d] -= padding[d].low;
      if (padding[d].interior != 0 || starts[d] < 0 ||
          limits[d] > from->shape().dim(static_cast<int>(d))) {
        return nullptr;
      }
    }
  }
  return from == nullptr ? nullptr
                         : r.builder().Slice(from, starts, limits, strides);
}

// Every k-th element of rows, asked for as one of k columns of what they are
// parted into. Such columns would fill one lane of 128 each.
//
//   slice(f32[8,64,2] reshape(f32[8,128] x), [0:8], [0:64], [1:2])
//   ==> f32[8,64,1] reshape(slice(x, [0:8], [1:128:2]))
Instruction* SliceOfParted(Instruction* i, Rewriter& r) {
  constexpr int64_t kMostColumns = 8;
  const Instruction* parted = i->operand(0);
  const DimVector& dims = parted->shape().dims();
  if (parted->opcode() != Opcode::kReshape || dims.size() < 2 ||
      dims.back() > kMostColumns || i->shape().dims().back() != 1) {
    return nullptr;
  }
  Instruction* x = parted->operand(0);
  DimVector joined(dims.begin(), dims.end() - 1);
  joined.back() *= dims.back();
  if (dims.back() < 2 || x->shape().dims() != joined) return nullptr;
  const auto& attrs = i->attrs<SliceAttrs>();
  DimVector starts = attrs.starts, limits = attrs.limits,
            strides = attrs.strides;
  const int64_t column = starts.back(), columns = dims.back();
  starts.pop_back();
  limits.pop_back();
  strides.pop_back();
  starts.back() = starts.back() * columns + column;
  limits.back() = (limits.back() - 1) * columns + column + 1;
  strides.back() *= columns;
  return r.builder().Reshape(r.builder().Slice(x, starts, limits, strides),
                             i->shape().dims());
}

// An update of a broadcast scalar at a known place is a pad.
Instruction* UpdateOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* scalar = BroadcastScalarOf(*i->operand(0));
  const Shape& part = i->operand(1)->shape();
  DimVector starts;
  if (scalar == nullptr || i->shape().rank() == 0 ||
      !ConstantStarts(*i, 2, i->shape(), part, &starts)) {
    return nullptr;
  }
  std::vector<PaddingDim> padding(i->shape().rank());
  for (int d = 0; d < i->shape().rank(); ++d) {
    padding[d].low = starts[d];
    padding[d].high = i->shape().dim(d) - part.dim(d) - starts[d];
  }
  return r.builder().Pad(i->operand(1), scalar, padding);
}

// The only dimension that a pad with zeros lengthens, by whole ends; -1: it is
// none.
int PaddedDimension(const Instruction& pad) {
  if (pad.opcode() != Opcode::kPad || !IsAll(*pad.operand(1), 0)) return -1;
  int padded = -1;
  const auto& dims = pad.attrs<PadAttrs>().dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == PaddingDim()) continue;
    if (padded >= 0 || dims[d].interior != 0 || dims[d].low < 0 ||
        dims[d].high < 0) {
      return -1;
    }
    padded = static_cast<int>(d);
  }
  return padded;
}

// What is put together along `d` to `x`, or `x`.
void AddParts(Instruction* x, int64_t d, std::vector<Instruction*>* parts) {
  if (x->opcode() == Opcode::kConcatenate && x->dimensions()[0] == d) {
    parts->insert(parts->end(), x->operands().begin(), x->operands().end());
  } else {
    parts->push_back(x);
  }
}

// What is the same along a dimension is the same backwards; what a broadcast is
// of is reversed before it.
//   reverse(f32[8,64] broadcast(f32[8] x, {0}), {0,1})
//   ==>  broadcast(reverse(x, {0}), {0})
Instruction* ReverseOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  Instruction* source = broadcast->operand(0);
  DimVector dims;
  for (size_t k = 0; k < broadcast->dimensions().size(); ++k) {
    if (std::count(i->dimensions().begin(), i->dimensions().end(),
                   broadcast->dimensions()[k]) > 0) {
      dims.push_back(static_cast<int64_t>(k));
    }
  }
  Builder& b = r.builder();
  if (!dims.empty()) source = b.Reverse(source, dims);
  return b.Broadcast(source, i->shape().dims(), broadcast->dimensions());
}

// Two reversals of one array, with a transpose between them or not: what is
// turned round twice is as it was. So are dimensions of size 1.
//   reverse(reverse(x, {0}), {0,1})  ==>  reverse(x, {1})
Instruction* ReversedOnce(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  const Instruction* between = nullptr;
  if (x->opcode() == Opcode::kTranspose &&
      x->operand(0)->opcode() == Opcode::kReverse && x->user_count() == 1) {
    between = x;
    x = x->operand(0);
  }
  const bool twice = x->opcode() == Opcode::kReverse;
  DimVector dims;
  for (const int64_t d : i->dimensions()) {
    if (i->shape().dim(static_cast<int>(d)) == 1) continue;
    dims.push_back(between != nullptr ? between->dimensions()[d] : d);
  }
  if (!twice && !dims.empty() && dims.size() == i->dimensions().size()) {
    return nullptr;
  }
  if (twice) {
    for (const int64_t d : x->dimensions()) {
      const auto again = std::find(dims.begin(), dims.end(), d);
      if (again == dims.end()) {
        dims.push_back(d);
      } else {
        dims.erase(again);
      }
    }
    x = x->operand(0);
  }
  std::sort(dims.begin(), dims.end());
  Builder& b = r.builder();
  if (!dims.empty()) x = b.Reverse(x, dims);
  return between != nullptr ? b.Transpose(x, between->dimensions()) : x;
}

}  // namespace

Instruction* SimplifySumOfPads(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout() || i->operand(0) == i->operand(1)) return nullptr;
  const int d = PaddedDimension(*i->operand(0));
  if (d < 0 || PaddedDimension(*i->operand(1)) != d) return nullptr;
  Instruction *first = i->operand(0), *second = i->operand(1);
  const auto padding = [&](const Instruction* pad) {
    return pad->attrs<PadAttrs>().dims[d];
  };
  if (padding(first).low > padding(second).low) std::swap(first, second);
  if (padding(first).low + first->operand(0)->shape().dim(d) !=
      padding(second).low) {
    return nullptr;
  }
  std::vector<Instruction*> parts;
  for (Instruction* pad : {first, second}) AddParts(pad->operand(0), d, &parts);
  Builder& b = r.builder();
  Instruction* joined = b.Concatenate(parts, d);
  std::vector<PaddingDim> rest(i->shape().rank());
  rest[d].low = padding(first).low;
  rest[d].high = padding(second).high;
  return rest[d] == PaddingDim() ? joined
                                 : b.Pad(joined, first->operand(1), rest);
}

Instruction* SimplifySlicing(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout() || !i->shape().IsArray()) return nullptr;
  Builder& b = r.builder();
  switch (i->opcode()) {
    case Opcode::kIota: {
      const int64_t d = i->attrs<IotaAttrs>().dimension;
      if (i->shape().dim(static_cast<int>(d)) != 1) return nullptr;
      return b.BroadcastScalar(b.Zero(i->shape().type()), i->shape().dims());
    }
    case Opcode::kSlice: {
      if (i->shape().ElementCount() == 0) return nullptr;
      for (auto* rule : {SliceOf, SliceOfPart, SliceOfParted}) {
        if (Instruction* value = rule(i, r)) return value;
      }
      return nullptr;
    }
    case Opcode::kDynamicSlice: {
      if (Instruction* value = SliceOf(i, r)) return value;
      DimVector starts, limits;
      if (!ConstantStarts(*i, 1, i->operand(0)->shape(), i->shape(), &starts)) {
        return nullptr;
      }
      for (int d = 0; d < i->shape().rank(); ++d) {
        limits.push_back(starts[d] + i->shape().dim(d));
      }
      return b.Slice(i->operand(0), starts, limits);
    }
    case Opcode::kDynamicUpdateSlice:
      return UpdateOfBroadcast(i, r);
    case Opcode::kPad:
      return i->shape().SameDims(i->operand(0)->shape()) &&
                     std::all_of(
                         i->attrs<PadAttrs>().dims.begin(),
                         i->attrs<PadAttrs>().dims.end(),
                         [](const PaddingDim& p) { return p == PaddingDim(); })
                 ? i->operand(0)
                 : nullptr;
    case Opcode::kConcatenate:
      if (Instruction* value = Concatenate(i, r)) return value;
      return ColumnWithoutUnits(i, r);
    case Opcode::kReverse:
      if (i->operand(0)->opcode() == Opcode::kBroadcast) {
        return ReverseOfBroadcast(i, r);
      }
      return ReversedOnce(i, r);
    default:
      return nullptr;
  }
}

}  // namespace ptxla::hlo

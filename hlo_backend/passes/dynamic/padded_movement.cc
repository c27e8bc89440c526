// Slices, paddings, concatenations and orders of dimensions.
#include <algorithm>

#include "absl/status/status.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/dynamic/padded_forms.h"

namespace ptxla::hlo {
namespace {

using Sizes = DimensionSizes;

class Mover {
 public:
  Mover(const Instruction& i, PaddedOperands operands, PaddedBuilder* b)
      : i_(i), x_(operands[0]), operands_(operands), b_(*b) {}

  PaddedResults Move() {
    switch (i_.opcode()) {
      case Opcode::kBroadcast:
        return Broadcast();
      case Opcode::kTranspose:
        return Transpose();
      case Opcode::kReshape:
        return Reshape();
      case Opcode::kReverse:
        return Reverse();
      case Opcode::kConcatenate:
        return Concatenate();
      case Opcode::kSlice:
        return Slice();
      case Opcode::kDynamicSlice:
        return DynamicSlice();
      case Opcode::kDynamicUpdateSlice:
        return DynamicUpdateSlice();
      case Opcode::kPad:
        return Pad();
      default:
        return UnknownPadded();
    }
  }

 private:
  Builder& make() { return b_.builder(); }
  std::vector<PaddedArray> Is(Instruction* data, Sizes sizes) {
    return {{data, std::move(sizes)}};
  }
  Sizes None() const { return Sizes(i_.shape().rank(), nullptr); }
  // The same instruction of the data.
  Instruction* Like() { return b_.Like(i_, DataOf(operands_)); }
  int64_t Bound(int64_t d) const {
    return x_.data->shape().dim(static_cast<int>(d));
  }
  // The part of `bounds` from `start`, s32[], along dimension d.
  Instruction* From(Instruction* data, int64_t d, Instruction* start,
                    const DimVector& bounds) {
    std::vector<Instruction*> starts(bounds.size(), b_.Number(0));
    starts[d] = start;
    return make().DynamicSlice(data, starts, bounds);
  }

  PaddedResults Broadcast() {
    Sizes sizes = None();
    for (size_t k = 0; k < i_.dimensions().size(); ++k) {
      sizes[i_.dimensions()[k]] = x_.sizes[k];
    }
    return Is(Like(), sizes);
  }

  PaddedResults Transpose() {
    Sizes sizes;
    for (const int64_t d : i_.dimensions()) sizes.push_back(x_.sizes[d]);
    return Is(Like(), sizes);
  }

  // Dimensions of size 1 come and go; the others stay as they are.
  PaddedResults Reshape() {
    const DimVector from = NonUnitPositions(x_.data->shape().dims());
    const DimVector to = NonUnitPositions(i_.shape().dims());
    if (DropUnitDims(x_.data->shape().dims()) !=
        DropUnitDims(i_.shape().dims())) {
      return UnknownPadded();
    }
    Sizes sizes = None();
    for (size_t k = 0; k < to.size(); ++k) sizes[to[k]] = x_.sizes[from[k]];
    return Is(Like(), sizes);
  }

  // Of what counts: turned whole, it lies at the end.
  PaddedResults Reverse() {
    Instruction* data = Like();
    for (const int64_t d : i_.dimensions()) {
      if (!x_.IsDynamic(d)) continue;
      absl::InlinedVector<PaddingDim, 4> padding(x_.sizes.size());
      padding[d].high = Bound(d);
      Instruction* room =
          make().Pad(data, make().Zero(data->shape().type()), padding);
      data = From(room, d, make().Subtract(b_.Number(Bound(d)), x_.sizes[d]),
                  x_.data->shape().dims());
    }
    return Is(data, x_.sizes);
  }

  // One behind the other: what does not count is overwritten by the next.
  PaddedResults Concatenate() {
    const int64_t d = i_.dimensions()[0];
    Sizes sizes = b_.Common(operands_);
    const bool gaps =
        std::any_of(operands_.begin(), operands_.end(),
                    [&](const PaddedArray& x) { return x.IsDynamic(d); });
    if (!gaps) return Is(Like(), sizes);
    Instruction* data = make().BroadcastScalar(make().Zero(i_.shape().type()),
                                               i_.shape().dims());
    Instruction* at = b_.Number(0);
    for (const PaddedArray& x : operands_) {
      std::vector<Instruction*> starts(sizes.size(), b_.Number(0));
      starts[d] = at;
      data = make().DynamicUpdateSlice(data, x.data, starts);
      at = make().Add(at, b_.SizeOf(x, d));
    }
    sizes[d] = at;
    return Is(data, sizes);
  }

  PaddedResults Slice() {
    const SliceAttrs& slice = i_.attrs<SliceAttrs>();
    Sizes sizes = None();
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (x_.sizes[d] == nullptr) continue;
      const int64_t stride = slice.strides[d];
      Instruction* limit =
          make().Minimum(b_.Number(slice.limits[d]), x_.sizes[d]);
      Instruction* reach =
          make().Add(limit, b_.Number(stride - 1 - slice.starts[d]));
      sizes[d] =
          make().Divide(make().Maximum(reach, b_.Number(0)), b_.Number(stride));
    }
    return Is(Like(), sizes);
  }

  // A slice of a whole dimension keeps its size.
  PaddedResults DynamicSlice() {
    Sizes sizes = None();
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (i_.shape().dim(static_cast<int>(d)) ==
          Bound(static_cast<int64_t>(d))) {
        sizes[d] = x_.sizes[d];
      }
    }
    return Is(Like(), sizes);
  }

  // An update of a whole dimension brings its size.
  PaddedResults DynamicUpdateSlice() {
    const PaddedArray& update = operands_[1];
    Sizes sizes = x_.sizes;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const auto dim = static_cast<int>(d);
      if (update.data->shape().dim(dim) == x_.data->shape().dim(dim)) {
        sizes[d] = update.sizes[d];
      } else if (update.sizes[d] != nullptr) {
        return absl::UnimplementedError(
            "of an update whose size is below that of its place");
      }
    }
    return Is(Like(), sizes);
  }

  // The padding behind follows what counts.
  PaddedResults Pad() {
    const auto& padding = i_.attrs<PadAttrs>().dims;
    Sizes sizes = None();
    PaddedArray padded = {Like(), None()};
    DimVector dynamic;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const PaddingDim& p = padding[d];
      if (x_.sizes[d] == nullptr) continue;
      if (p.interior != 0 || p.low < 0 || p.high < 0) {
        return absl::UnimplementedError(
            "of an array of dynamic size, with padding inside or cut off");
      }
      padded.sizes[d] = make().Add(x_.sizes[d], b_.Number(p.low));
      sizes[d] = make().Add(padded.sizes[d], b_.Number(p.high));
      dynamic.push_back(static_cast<int64_t>(d));
    }
    return Is(b_.Filled(padded, operands_[1].data, dynamic), sizes);
  }

  const Instruction& i_;
  const PaddedArray& x_;
  PaddedOperands operands_;
  PaddedBuilder& b_;
};

}  // namespace

PaddedResults PaddedMovement(const Instruction& i, PaddedOperands operands,
                             PaddedBuilder* b) {
  if (operands.empty()) return UnknownPadded();
  return Mover(i, operands, b).Move();
}

}  // namespace ptxla::hlo

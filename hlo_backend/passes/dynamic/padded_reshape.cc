// dynamic-reshape: the elements that count, in order, are those of the result.
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/dynamic/padded_forms.h"

namespace ptxla::hlo {
namespace {

// Along the first dimension alone: what counts is the front of the array.
bool IsFront(const PaddedArray& x) {
  for (size_t d = 1; d < x.sizes.size(); ++d) {
    if (x.sizes[d] != nullptr) return false;
  }
  return true;
}

class Reshaper {
 public:
  Reshaper(const PaddedArray& from, PaddedArray to, const DimVector& dims,
           PaddedBuilder* b)
      : from_(from), to_(std::move(to)), dims_(dims), b_(*b) {}

  PaddedArray Make() {
    Instruction* flat =
        make().Reshape(from_.data, {from_.data->shape().ElementCount()});
    to_.data = IsFront(from_) && IsFront(to_) ? Front(flat) : Picked(flat);
    return to_;
  }

 private:
  Builder& make() { return b_.builder(); }

  Instruction* Front(Instruction* flat) {
    const int64_t have = flat->shape().dim(0), want = Product(dims_);
    if (have > want) {
      flat = make().Slice(flat, {0}, {want});
    } else if (have < want) {
      const PaddingDim behind = {0, want - have, 0};
      flat = make().Pad(flat, make().Zero(flat->shape().type()), {behind});
    }
    return make().Reshape(flat, dims_);
  }

  Instruction* Spread(Instruction* scalar) {
    return make().BroadcastScalar(scalar, dims_);
  }

  // Element by element: its number among those that count, from its indices
  // and the result's sizes, is one of indices by the operand's sizes.
  Instruction* Picked(Instruction* flat) {
    const Shape index = Shape::Array(PrimitiveType::kS32, dims_);
    Instruction* number = Spread(b_.Number(0));
    for (size_t d = 0; d < dims_.size(); ++d) {
      const auto dim = static_cast<int64_t>(d);
      number = make().Add(make().Multiply(number, Spread(b_.SizeOf(to_, dim))),
                          make().Iota(index, dim));
    }
    Instruction* place = Spread(b_.Number(0));
    int64_t stride = 1;
    for (int d = from_.data->shape().rank() - 1; d >= 0; --d) {
      Instruction* size = Spread(b_.SizeOf(from_, d));
      Instruction* at = make().Remainder(number, size);
      number = make().Divide(number, size);
      place = make().Add(place, make().Multiply(at, Spread(b_.Number(stride))));
      stride *= from_.data->shape().dim(d);
    }
    GatherAttrs pick;
    pick.collapsed_slice_dims = {0};
    pick.start_index_map = {0};
    pick.index_vector_dim = static_cast<int64_t>(dims_.size());
    pick.slice_sizes = {1};
    return make().Gather(flat, place, pick);
  }

  const PaddedArray& from_;
  PaddedArray to_;
  const DimVector& dims_;
  PaddedBuilder& b_;
};

}  // namespace

PaddedArray PaddedReshape(const Instruction& i, PaddedOperands operands,
                          PaddedBuilder* b) {
  PaddedArray to;
  for (int d = 0; d < i.shape().rank(); ++d) {
    to.sizes.push_back(i.shape().is_dynamic_dim(d) ? operands[d + 1].data
                                                   : nullptr);
  }
  return Reshaper(operands[0], std::move(to), i.shape().dims(), b).Make();
}

}  // namespace ptxla::hlo

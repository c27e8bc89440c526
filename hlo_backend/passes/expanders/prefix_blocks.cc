#include "hlo_backend/passes/expanders/prefix_blocks.h"

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {
namespace {

DimVector DimsOf(const Instruction& x) {
  return DimVector(x.shape().dims().begin(), x.shape().dims().end());
}

// The one dimension along which a window takes in all earlier (later)
// elements; -1: another window.
int PrefixDim(const Instruction& i, bool* from_end) {
  int found = -1;
  const Window& window = i.attrs<WindowAttrs>().window;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (IsIdentity(w)) continue;
    const int64_t n = i.operand(0)->shape().dim(static_cast<int>(d));
    const bool earlier = w.padding_low == n - 1 && w.padding_high == 0;
    const bool later = w.padding_high == n - 1 && w.padding_low == 0;
    if (found >= 0 || w.size != n || w.stride != 1 || w.base_dilation != 1 ||
        w.window_dilation != 1 || (!earlier && !later)) {
      return -1;
    }
    found = static_cast<int>(d);
    *from_end = later;
  }
  return found;
}

// Major to minor: `inner`, the place in a block, then the others, of which the
// one that leaves the fewest lanes unused comes last.
DimVector Arrangement(const DimVector& dims, int inner) {
  int lanes = -1;
  const auto filled = [&](int d) {
    const int64_t rows = (dims[d] + kPrefixBlock - 1) / kPrefixBlock;
    return static_cast<double>(dims[d]) /
           static_cast<double>(rows * kPrefixBlock);
  };
  const int rank = static_cast<int>(dims.size());
  for (int d = 0; d < rank; ++d) {
    if (d != inner && (lanes < 0 || filled(d) >= filled(lanes))) lanes = d;
  }
  DimVector order = {inner};
  for (int d = 0; d < rank; ++d) {
    if (d != inner && d != lanes) order.push_back(d);
  }
  order.push_back(lanes);
  return order;
}

// The order of an array's own dimensions before `dim` is cut into blocks. If
// the lanes are to be another dimension, `dim` is the rows: cutting rows moves
// nothing.
DimVector OrderToCut(const DimVector& dims, int dim, int64_t blocks) {
  DimVector split = dims;
  split[dim] = blocks;
  split.insert(split.begin() + dim + 1, kPrefixBlock);
  int64_t lanes = Arrangement(split, dim + 1).back();
  DimVector order;
  if (lanes > dim) --lanes;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (lanes == dim || (d != dim && d != lanes)) order.push_back(d);
  }
  if (lanes != dim) {
    order.insert(order.end(), {static_cast<int64_t>(dim), lanes});
  }
  return order;
}

class Prefix {
 public:
  Prefix(Instruction* i, bool from_end)
      : i_(i), b_(i->parent()), from_end_(from_end) {
    b_.set_metadata(i->shared_metadata());
  }

  // Along `dim`, including each element itself.
  Instruction* Of(Instruction* x, int dim) {
    const int64_t n = x->shape().dim(dim);
    if (n <= kPrefixBlock) return Short(x, dim);
    const int64_t blocks = (n + kPrefixBlock - 1) / kPrefixBlock;
    if (const DimVector order = OrderToCut(DimsOf(*x), dim, blocks);
        !IsIdentityMapping(order)) {
      Instruction* rows = b_.Transpose(x, order);
      return b_.Transpose(Of(rows, x->shape().rank() - 2), Inverse(order));
    }
    x = Padded(x, dim, 0, blocks * kPrefixBlock - n);
    const DimVector whole = DimsOf(*x);
    DimVector split = whole;
    split[dim] = blocks;
    split.insert(split.begin() + dim + 1, kPrefixBlock);
    const DimVector order = Arrangement(split, dim + 1);
    const DimVector back = Inverse(order);
    Instruction* inside = Short(b_.Transpose(b_.Reshape(x, split), order), 0);
    const DimVector dims = DimsOf(*inside);
    const DimVector rest(dims.begin() + 1, dims.end());
    Instruction* totals =
        b_.Reshape(Part(inside, 0, from_end_ ? 0 : kPrefixBlock - 1, 1), rest);
    const int along = static_cast<int>(back[dim]) - 1;
    // Each block is given what comes before it.
    totals = Part(totals, along, from_end_ ? 1 : 0, blocks - 1);
    totals = Padded(totals, along, from_end_ ? 0 : 1, from_end_ ? 1 : 0);
    DimVector mapping;
    for (size_t d = 1; d < dims.size(); ++d) {
      mapping.push_back(static_cast<int64_t>(d));
    }
    Instruction* before = b_.Broadcast(Of(totals, along), dims, mapping);
    Instruction* value = b_.Binary(*MonoidOf(*i_->to_apply()), inside, before);
    return Part(b_.Reshape(b_.Transpose(value, back), whole), dim, 0, n);
  }

 private:
  // Along a dimension of one block.
  Instruction* Short(Instruction* x, int dim) {
    Window window;
    window.dims.resize(x->shape().rank());
    WindowDim& w = window.dims[dim];
    w.size = x->shape().dim(dim);
    (from_end_ ? w.padding_high : w.padding_low) = w.size - 1;
    return b_.ReduceWindow({x}, {i_->operand(1)}, window, i_->to_apply());
  }

  Instruction* Part(Instruction* x, int dim, int64_t from, int64_t size) {
    if (size == x->shape().dim(dim)) return x;
    DimVector starts(x->shape().rank(), 0), limits = DimsOf(*x);
    starts[dim] = from;
    limits[dim] = from + size;
    return b_.Slice(x, starts, limits, DimVector(x->shape().rank(), 1));
  }

  Instruction* Padded(Instruction* x, int dim, int64_t low, int64_t high) {
    if (low + high == 0) return x;
    PadAttrs pad;
    pad.dims.resize(x->shape().rank());
    pad.dims[dim].low = low;
    pad.dims[dim].high = high;
    return b_.Pad(x, i_->operand(1), pad.dims);
  }

  Instruction* i_;
  Builder b_;
  const bool from_end_;
};

}  // namespace

Instruction* PrefixInBlocks(Instruction* i) {
  if (i->opcode() != Opcode::kReduceWindow || !IsSimpleWindow(*i) ||
      !StartIsNeutral(*i)) {
    return nullptr;
  }
  bool from_end = false;
  const int dim = PrefixDim(*i, &from_end);
  if (dim < 0 || dim + 2 < i->shape().rank() ||
      i->shape().dim(dim) <= kPrefixBlock) {
    return nullptr;
  }
  return Prefix(i, from_end).Of(i->operand(0), dim);
}

}  // namespace ptxla::hlo

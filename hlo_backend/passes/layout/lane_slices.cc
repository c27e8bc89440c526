#include "hlo_backend/passes/layout/lane_slices.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

bool MovesFreely(const Instruction& i) {
  return i.shape().IsArray() && !i.shape().has_layout() &&
         i.control_predecessors().empty() && i.control_successors().empty();
}

// Of one reader.
bool IsLink(const Instruction& i) {
  return i.user_count() == 1 && !i.IsRoot() && MovesFreely(i);
}

// The one dimension that a slice cuts, in steps of 1; -1: several or others.
int CutDimension(const Instruction& slice) {
  if (slice.opcode() != Opcode::kSlice || !MovesFreely(slice)) return -1;
  const auto& attrs = slice.attrs<SliceAttrs>();
  int cut = -1;
  for (int d = 0; d < slice.shape().rank(); ++d) {
    if (attrs.strides[d] != 1) return -1;
    if (slice.shape().dim(d) == slice.operand(0)->shape().dim(d)) continue;
    if (cut >= 0) return -1;
    cut = d;
  }
  return cut;
}

// The dimension that all readers cut, and nothing else of `x`.
int CutByAll(const Instruction& x) {
  if (x.users().empty() || x.IsRoot() || !MovesFreely(x)) return -1;
  const int cut = CutDimension(*x.users()[0]);
  for (const Instruction* user : x.users()) {
    if (CutDimension(*user) != cut) return -1;
  }
  return cut;
}

// The dimension of `x` that is cut, by all of its readers or by those of a
// transpose that alone reads it; `cut` is what they read.
int64_t CutBehind(Instruction& x, Instruction** cut) {
  *cut = &x;
  const int d = CutByAll(x);
  if (d >= 0 || !IsLink(x)) return d;
  Instruction* transpose = x.users()[0];
  if (transpose->opcode() != Opcode::kTranspose) return -1;
  *cut = transpose;
  const int of_result = CutByAll(*transpose);
  return of_result < 0 ? -1 : transpose->dimensions()[of_result];
}

// Elements of `shape` behind dimension `d`.
int64_t Inner(const Shape& shape, int64_t d) {
  return Product(absl::MakeConstSpan(shape.dims()).subspan(d + 1));
}

// Whether dimensions `d` and those behind it are the lanes of `flat`, and more
// than those of one row of `d`.
bool AreLanes(const Shape& shape, int64_t d, const Shape& flat) {
  return flat.rank() > 0 && Inner(shape, d) > 1 && shape.dim(d) > 1 &&
         flat.dim(flat.rank() - 1) == shape.dim(d) * Inner(shape, d);
}

// A transpose that brings the last dimension to the front.
bool TurnsLastToFirst(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose) return false;
  const int rank = i.shape().rank();
  for (int d = 0; d < rank; ++d) {
    if (i.dimensions()[d] != (d + rank - 1) % rank) return false;
  }
  return true;
}

class LaneSlices {
 public:
  explicit LaneSlices(Computation* c) : c_(c), b_(c) {}

  bool Run() {
    bool changed = false;
    // Slices of reshapes go on the way.
    std::vector<Instruction*> stay;
    for (Instruction* i : c_->PostOrder()) {
      if (i->opcode() == Opcode::kDot || i->opcode() == Opcode::kReshape) {
        stay.push_back(i);
      }
    }
    for (Instruction* i : stay) {
      if (!MovesFreely(*i)) continue;
      b_.set_metadata(i->shared_metadata());
      switch (i->opcode()) {
        case Opcode::kDot:
          changed |= FlattenWeights(i);
          break;
        case Opcode::kReshape:
          changed |= CutLanes(i) || JoinLanes(i);
          break;
        default:
          break;
      }
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  // The slices of `reshape`, or of the transpose that alone reads it.
  bool CutLanes(Instruction* reshape) {
    Instruction* x = reshape->operand(0);
    while (x->opcode() == Opcode::kReshape) x = x->operand(0);
    Instruction* cut = reshape;
    const int64_t d = CutBehind(*reshape, &cut);
    if (d < 0 || x->shape().has_layout() ||
        !AreLanes(reshape->shape(), d, x->shape())) {
      return false;
    }
    const int64_t inner = Inner(reshape->shape(), d);
    x = AsShaped(x, RowsOf(reshape->shape(), d, x->shape()));
    const int lanes = x->shape().rank() - 1;
    const std::vector<Instruction*> slices(cut->users().begin(),
                                           cut->users().end());
    for (Instruction* slice : slices) {
      b_.set_metadata(slice->shared_metadata());
      const int at = CutDimension(*slice);
      const auto& attrs = slice->attrs<SliceAttrs>();
      DimVector starts(x->shape().rank(), 0);
      DimVector limits = x->shape().dims();
      starts[lanes] = attrs.starts[at] * inner;
      limits[lanes] = attrs.limits[at] * inner;
      DimVector dims = reshape->shape().dims();
      dims[d] = slice->shape().dim(at);
      Instruction* value = b_.Reshape(b_.Slice(x, starts, limits), dims);
      if (cut != reshape) value = b_.Transpose(value, cut->dimensions());
      c_->Replace(slice, value);
    }
    return true;
  }

  // Rows of lanes `flat`, in the dimensions in front of `d` of `split` where
  // they are rows and planes of whole tiles: what is near may keep them.
  static DimVector RowsOf(const Shape& split, int64_t d, const Shape& flat) {
    if (d == 0 || split.dim(d - 1) % kTileRows != 0) return flat.dims();
    DimVector dims(split.dims().begin(), split.dims().begin() + d);
    dims.push_back(flat.dims().back());
    return dims;
  }

  Instruction* AsShaped(Instruction* x, const DimVector& dims) {
    return dims == x->shape().dims() ? x : b_.Reshape(x, dims);
  }

  // Of parts that alone are read here, through a transpose or not.
  bool JoinLanes(Instruction* reshape) {
    Instruction* split = reshape->operand(0);
    Instruction* whole = split;
    if (split->opcode() == Opcode::kTranspose && IsLink(*split)) {
      whole = split->operand(0);
    }
    if (whole->opcode() != Opcode::kConcatenate || !IsLink(*whole)) {
      return false;
    }
    int64_t d = whole->dimensions()[0];
    if (whole != split) {
      const auto order = split->dimensions();
      d = std::find(order.begin(), order.end(), d) - order.begin();
    }
    if (!AreLanes(split->shape(), d, reshape->shape())) return false;
    std::vector<Instruction*> parts;
    DimVector dims = RowsOf(split->shape(), d, reshape->shape());
    for (Instruction* part : whole->operands()) {
      if (whole != split) part = b_.Transpose(part, split->dimensions());
      dims.back() = part->shape().dim(d) * Inner(part->shape(), d);
      parts.push_back(b_.Reshape(part, dims));
    }
    Instruction* joined =
        b_.Concatenate(parts, static_cast<int64_t>(dims.size()) - 1);
    c_->Replace(reshape, AsShaped(joined, reshape->shape().dims()));
    return true;
  }

  // The dimension of the product that is cut, directly or behind one reshape
  // of its rows.
  static int64_t CutOf(const Instruction& dot) {
    int64_t d = CutByAll(dot);
    if (d >= 0) return d;
    if (!IsLink(dot)) return -1;
    Instruction* reshape = dot.users()[0];
    if (reshape->opcode() != Opcode::kReshape) return -1;
    d = CutBehind(*reshape, &reshape);
    if (d < 0) return -1;
    // Counted from the end, they are the same.
    const Shape& split = dot.users()[0]->shape();
    const int64_t at = d - split.rank() + dot.shape().rank();
    if (at < 0) return -1;
    for (int64_t k = at; k < dot.shape().rank(); ++k) {
      if (dot.shape().dim(k) != split.dim(k - at + d)) return -1;
    }
    return at;
  }

  bool FlattenWeights(Instruction* dot) {
    const DotAttrs& attrs = dot->attrs<DotAttrs>();
    const int64_t d = CutOf(*dot);
    Instruction* w = dot->operand(1);
    const int rank = w->shape().rank();
    if (d < 0 || dot->operand_count() != 2 || !attrs.rhs_batch.empty() ||
        attrs.rhs_contracting.size() != 1 || rank < 3) {
      return false;
    }
    // All that is free is lanes of the result, from the cut dimension on.
    int64_t contracted = attrs.rhs_contracting[0];
    if ((contracted != 0 && contracted != rank - 1) ||
        d != dot->shape().rank() - (rank - 1)) {
      return false;
    }
    if (TurnsLastToFirst(*w) && contracted == 0) {
      w = w->operand(0);
      contracted = rank - 1;
    }
    const int64_t k = w->shape().dim(contracted);
    const int64_t n = w->shape().ElementCount() / k;
    const bool first = contracted == 0;
    DotAttrs flat = attrs;
    flat.rhs_contracting = {first ? 0 : 1};
    Instruction* lanes =
        b_.Reshape(w, first ? DimVector{k, n} : DimVector{n, k});
    DimVector dims(dot->shape().dims().begin(),
                   dot->shape().dims().begin() + d);
    dims.push_back(n);
    const Shape shape = Shape::Array(dot->shape().type(), dims);
    Instruction* product = c_->AddLike(*dot, shape, {dot->operand(0), lanes});
    product->set_attributes(flat);
    Instruction* split = b_.Reshape(product, dot->shape().dims());
    c_->Replace(dot, split);
    CutLanes(split);
    return true;
  }

  Computation* c_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> LaneSlicesPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= LaneSlices(c).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo

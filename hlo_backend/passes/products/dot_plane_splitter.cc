#include "hlo_backend/passes/products/dot_plane_splitter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/dot_side.h"
#include "hlo_backend/passes/products/joined_planes.h"
#include "hlo_backend/passes/rewriter.h"

namespace ptxla::hlo {
namespace {

// More indices fill half of a tile's rows, and would be as many products.
constexpr int64_t kMostPlanes = 4;

// The dimension that tiles have in their rows, if it is so small.
std::optional<int> RowsOfTiles(const Shape& s) {
  const int d = s.rank() - 2;
  if (d < 0 || s.dim(d) < 2 || s.dim(d) > kMostPlanes) return std::nullopt;
  return d;
}

// The operand without dimension `d`, of size 1.
void Drop(int64_t d, Builder& b, DotSide* side) {
  DimVector dims = side->operand->shape().dims();
  dims.erase(dims.begin() + d);
  side->operand = b.Reshape(side->operand, dims);
  for (DimVector* list : {&side->batch, &side->contracting}) {
    DimVector kept;
    for (int64_t k : *list) {
      if (k != d) kept.push_back(k > d ? k - 1 : k);
    }
    *list = kept;
  }
}

Instruction* Plane(Instruction* x, int64_t d, int64_t index, Builder& b) {
  DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
  starts[d] = index;
  limits[d] = index + 1;
  return b.Slice(x, starts, limits);
}

// The index along `d` that the slice takes, with all of the others.
std::optional<int64_t> IndexOfSlice(const Instruction& slice, int d) {
  if (slice.opcode() != Opcode::kSlice) return std::nullopt;
  const Shape& whole = slice.operand(0)->shape();
  for (int k = 0; k < whole.rank(); ++k) {
    if (slice.shape().dim(k) != (k == d ? 1 : whole.dim(k))) {
      return std::nullopt;
    }
  }
  return slice.attrs<SliceAttrs>().starts[d];
}

// Parts of size 1 along `d` that the value is put together from, in order: sums
// of padded ones, or a concatenation. Empty: it is not.
std::vector<Instruction*> PlanesOf(const Instruction& value, int d) {
  std::vector<Instruction*> planes(value.shape().dim(d), nullptr);
  if (value.opcode() == Opcode::kConcatenate && value.dimensions()[0] == d &&
      value.operand_count() == value.shape().dim(d)) {
    planes.assign(value.operands().begin(), value.operands().end());
    return planes;
  }
  std::vector<const Instruction*> sums = {&value};
  for (size_t next = 0; next < sums.size(); ++next) {
    for (Instruction* o : sums[next]->operands()) {
      if (o->opcode() == Opcode::kAdd && sums[next]->opcode() == Opcode::kAdd &&
          sums.size() < kMostPlanes) {
        sums.push_back(o);
        continue;
      }
      if (sums[next]->opcode() != Opcode::kAdd || o->opcode() != Opcode::kPad ||
          !IsAll(*o->operand(1), 0)) {
        return {};
      }
      const auto& padding = o->attrs<PadAttrs>().dims;
      for (int k = 0; k < value.shape().rank(); ++k) {
        const bool plane = k == d && padding[k].interior == 0 &&
                           o->operand(0)->shape().dim(k) == 1 &&
                           padding[k].low >= 0 && padding[k].high >= 0;
        if (!plane && !(padding[k] == PaddingDim())) return {};
      }
      Instruction*& plane = planes[padding[d].low];
      if (plane != nullptr) return {};
      plane = o->operand(0);
    }
  }
  const bool all = std::all_of(planes.begin(), planes.end(),
                               [](const Instruction* p) { return p; });
  return all ? planes : std::vector<Instruction*>();
}

// Everybody takes one index along d.
bool OnlyPlanesAreUsed(const Instruction& value, int d) {
  return !value.IsRoot() && value.user_count() > 0 &&
         std::all_of(value.users().begin(), value.users().end(),
                     [&](const Instruction* u) {
                       return IndexOfSlice(*u, d).has_value();
                     });
}

// Elementwise work, the masks broadcast for it, and reshapes of what is in
// front of the dimension, done for each index by itself.
bool SlicesBefore(Instruction* i) {
  const std::optional<int> d = RowsOfTiles(i->shape());
  if (!d || HasControlEdges(*i) || !OnlyPlanesAreUsed(*i, *d)) return false;
  const bool broadcast =
      i->opcode() == Opcode::kBroadcast && !Contains(i->dimensions(), *d);
  if (!broadcast && !(i->IsElementwise() && i->operand_count() > 0)) {
    return false;
  }
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const std::vector<Instruction*> slices(i->users().begin(), i->users().end());
  for (Instruction* slice : slices) {
    std::vector<Instruction*> operands(i->operands().begin(),
                                       i->operands().end());
    const auto without = [&](DimVector dims) {
      dims.erase(dims.begin() + *d);
      return dims;
    };
    for (Instruction*& o : operands) {
      if (broadcast || o->shape().IsScalar()) continue;
      o = Plane(o, *d, *IndexOfSlice(*slice, *d), b);
      o = b.Reshape(o, without(o->shape().dims()));
    }
    const DimVector dims = without(i->shape().dims());
    Instruction* plane = nullptr;
    if (broadcast) {
      DimVector kept(i->dimensions().begin(), i->dimensions().end());
      for (int64_t& k : kept) k -= k > *d ? 1 : 0;
      plane = b.Broadcast(operands[0], dims, kept);
    } else {
      plane = i->parent()->AddLike(*i, Shape::Array(i->shape().type(), dims),
                                   operands);
    }
    i->parent()->Replace(slice, b.Reshape(plane, slice->shape().dims()));
  }
  // Or it would seem to need its operands whole.
  i->parent()->Remove(i);
  return true;
}

class Splitter {
 public:
  explicit Splitter(Instruction* dot)
      : dot_(dot),
        b_(dot->parent()),
        sides_{DotSide{dot->operand(0), dot->attrs<DotAttrs>().lhs_batch,
                       dot->attrs<DotAttrs>().lhs_contracting},
               DotSide{dot->operand(1), dot->attrs<DotAttrs>().rhs_batch,
                       dot->attrs<DotAttrs>().rhs_contracting}} {
    b_.set_metadata(dot->shared_metadata());
  }

  bool Run() {
    if (BatchBySlices()) return true;
    for (int o = 0; o < 2; ++o) {
      if (SplitBySlices(o) || SplitByParts(o)) return true;
    }
    return false;
  }

 private:
  // Where the operand's free dimension stands in the product.
  int InProduct(int o, int64_t d) const {
    const DimVector free = sides_[o].free();
    const auto at = std::find(free.begin(), free.end(), d) - free.begin();
    return static_cast<int>(sides_[0].batch.size() +
                            (o == 0 ? 0 : sides_[0].free().size()) + at);
  }

  Instruction* Dot(const DotSide& lhs, const DotSide& rhs, PrimitiveType type) {
    Instruction* dot = DotOf(*dot_, lhs, rhs, type);
    dot->set_metadata(dot_->shared_metadata());
    return dot;
  }

  // The product with `plane` in place of operand o, whose dimension d is one
  // index now and no dimension of the product.
  Instruction* OfPlane(int o, int64_t d, Instruction* plane,
                       PrimitiveType type) {
    DotSide sides[2] = {sides_[0], sides_[1]};
    sides[o].operand = plane;
    Drop(d, b_, &sides[o]);
    return Dot(sides[0], sides[1], type);
  }

  // Of a matrix times weights [K, planes, N] the planes are members of a batch,
  // which lie in the rows of the weights' tiles and share the matrix.
  bool BatchBySlices() {
    const Instruction* x = sides_[0].operand;
    const Shape& w = sides_[1].operand->shape();
    if (x->shape().rank() != 2 || w.rank() != 3 || !sides_[0].batch.empty() ||
        sides_[1].contracting.size() != 1 || sides_[1].contracting[0] != 0 ||
        !RowsOfTiles(w) || !OnlyPlanesAreUsed(*dot_, 1)) {
      return false;
    }
    const Shape& m = x->shape();
    Instruction* members =
        b_.Broadcast(sides_[0].operand, DimVector{w.dim(1), m.dim(0), m.dim(1)},
                     DimVector{1, 2});
    DotSide left = sides_[0], right = sides_[1];
    left.operand = members;
    left.batch.push_back(0);
    ++left.contracting[0];
    right.batch.push_back(1);
    Instruction* product = Dot(left, right, dot_->shape().type());
    const std::vector<Instruction*> slices(dot_->users().begin(),
                                           dot_->users().end());
    for (Instruction* slice : slices) {
      Instruction* plane = Plane(product, 0, *IndexOfSlice(*slice, 1), b_);
      dot_->parent()->Replace(slice, b_.Reshape(plane, slice->shape().dims()));
    }
    dot_->parent()->Remove(dot_);
    return true;
  }

  // y[:,0,:] of y = x w is x w[:,0,:].
  bool SplitBySlices(int o) {
    const std::optional<int> d = RowsOfTiles(dot_->shape());
    if (!d || !OnlyPlanesAreUsed(*dot_, *d)) return false;
    int64_t in_operand = -1;
    for (int64_t k : sides_[o].free()) {
      if (InProduct(o, k) == *d) in_operand = k;
    }
    if (in_operand < 0 || in_operand == sides_[o].operand->shape().rank() - 1) {
      return false;
    }
    const std::vector<Instruction*> slices(dot_->users().begin(),
                                           dot_->users().end());
    std::vector<Instruction*> products(dot_->shape().dim(*d), nullptr);
    for (Instruction* slice : slices) {
      Instruction*& product = products[*IndexOfSlice(*slice, *d)];
      if (product == nullptr) {
        product = OfPlane(
            o, in_operand,
            Plane(sides_[o].operand, in_operand, *IndexOfSlice(*slice, *d), b_),
            dot_->shape().type());
      }
      dot_->parent()->Replace(slice,
                              b_.Reshape(product, slice->shape().dims()));
    }
    dot_->parent()->Remove(dot_);
    return true;
  }

  bool SplitByParts(int o) {
    const std::optional<int> d = RowsOfTiles(sides_[o].operand->shape());
    if (!d || Contains(sides_[o].batch, *d)) return false;
    const std::vector<Instruction*> parts = PlanesOf(*sides_[o].operand, *d);
    if (parts.empty()) return false;
    const auto& contracting = sides_[o].contracting;
    const auto at = std::find(contracting.begin(), contracting.end(), *d);
    Instruction* value = at == contracting.end()
                             ? Joined(o, *d, parts)
                             : Summed(o, at - contracting.begin(), parts);
    if (value == nullptr) return false;
    dot_->parent()->Replace(dot_, value);
    return true;
  }

  Instruction* Joined(int o, int d, const std::vector<Instruction*>& parts) {
    const int joined = InProduct(o, d);
    std::vector<Instruction*> products;
    for (Instruction* part : parts) {
      Instruction* product = OfPlane(o, d, part, dot_->shape().type());
      DimVector dims = product->shape().dims();
      dims.insert(dims.begin() + joined, 1);
      products.push_back(b_.Reshape(product, dims));
    }
    return b_.Concatenate(products, joined);
  }

  // A sum over one index less in each product; nullptr: it is all that is
  // contracted. The arrays' sums are f32 until the last one.
  Instruction* Summed(int o, int64_t pair,
                      const std::vector<Instruction*>& parts) {
    if (sides_[o].contracting.size() < 2) return nullptr;
    const PrimitiveType type = dot_->shape().type();
    const bool narrow = IsFloat(type) && BitWidth(type) < 32;
    const PrimitiveType sums = narrow ? PrimitiveType::kF32 : type;
    Instruction* sum = nullptr;
    for (size_t index = 0; index < parts.size(); ++index) {
      DotSide sides[2] = {sides_[0], sides_[1]};
      const int64_t d = sides[o].contracting[pair];
      const int64_t other = sides[1 - o].contracting[pair];
      sides[o].operand = parts[index];
      sides[1 - o].operand =
          Plane(sides[1 - o].operand, other, static_cast<int64_t>(index), b_);
      Drop(d, b_, &sides[o]);
      Drop(other, b_, &sides[1 - o]);
      Instruction* product = Dot(sides[0], sides[1], sums);
      sum = sum == nullptr ? product : b_.Emit(Opcode::kAdd, {sum, product});
    }
    return narrow ? b_.Convert(sum, type) : sum;
  }

  Instruction* dot_;
  Builder b_;
  DotSide sides_[2];
};

bool Split(Instruction* i) {
  if (i->shape().has_layout()) return false;
  if (i->opcode() != Opcode::kDot) {
    return SlicesBefore(i) ||
           (JoinsPlanesOfLargeWeights(*i) && SlicesBeforeJoin(i, kMostPlanes));
  }
  return i->attrs<DotAttrs>().sparsity.empty() && !HasControlEdges(*i) &&
         Splitter(i).Run();
}

}  // namespace

absl::StatusOr<bool> DotPlaneSplitterPass::Run(Module* module,
                                               const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // Users before operands: slices move up, and meet the products.
    std::vector<Instruction*> order = c->PostOrder();
    std::reverse(order.begin(), order.end());
    for (Instruction* i : order) {
      if (i->shape().IsArray()) changed |= Split(i);
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

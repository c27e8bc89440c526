#include "hlo_backend/passes/transpose_mover.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/compact_entry.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/window_canonicalizer.h"

namespace ptxla::hlo {
namespace {

DimVector Inverse(absl::Span<const int64_t> permutation) {
  DimVector inverse(permutation.size(), 0);
  for (size_t d = 0; d < permutation.size(); ++d) {
    inverse[permutation[d]] = static_cast<int64_t>(d);
  }
  return inverse;
}

Instruction* Transposed(Builder* b, Instruction* x, const DimVector& p) {
  if (IsIdentityMapping(p)) return x;
  if (x->opcode() != Opcode::kTranspose) return b->Transpose(x, p);
  const DimVector both = Permuted(x->dimensions(), p);
  return IsIdentityMapping(both) ? x->operand(0)
                                 : b->Transpose(x->operand(0), both);
}

bool IsSplat(const Instruction& i) {
  return i.opcode() == Opcode::kConstant && i.literal().IsSplat();
}

// Work on parameters is followed so far.
constexpr int kDeepest = 6;

// Costs nothing in any order of dimensions.
bool IsFree(const Instruction& i) {
  return i.opcode() == Opcode::kBroadcast || i.opcode() == Opcode::kIota ||
         IsSplat(i);
}

// Has an order of dimensions of its own, and what follows takes it.
bool GivesOrder(const Instruction& i) {
  return i.opcode() == Opcode::kConvolution || IsPlaneWindow(i);
}

class Mover {
 public:
  Mover(Computation* c, int generation)
      : c_(c), b_(c), generation_(generation) {}

  bool Run() {
    bool changed = false;
    for (Instruction* i : c_->PostOrder()) {
      if (i->opcode() == Opcode::kTranspose && GivesOrder(*i->operand(0))) {
        moving_.insert(i);
        continue;
      }
      if (i->opcode() == Opcode::kTranspose &&
          moving_.contains(i->operand(0))) {
        continue;  // they meet
      }
      b_.set_metadata(i->shared_metadata());
      Instruction* value = Moved(i);
      if (value == nullptr) continue;
      c_->Replace(i, value);
      changed = true;
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  bool Moves(const Instruction* x) const { return moving_.contains(x); }

  // The instruction on untransposed operands, transposed; null: it stays.
  Instruction* Moved(Instruction* i) {
    if (!i->control_predecessors().empty() ||
        !i->control_successors().empty()) {
      return nullptr;
    }
    if (i->IsElementwise() && i->opcode() != Opcode::kCopy) {
      return Elementwise(i);
    }
    switch (i->opcode()) {
      case Opcode::kReduce:
        return Reduce(i);
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        return Windows(i);
      case Opcode::kPad:
        return Pad(i);
      case Opcode::kSlice:
        return Slice(i);
      case Opcode::kConcatenate:
        return Concatenate(i);
      default:
        return nullptr;
    }
  }

  // A parameter that will lie as it is before a transpose by `order`.
  bool LiesBefore(const Instruction& x, absl::Span<const int64_t> order) const {
    return x.opcode() == Opcode::kParameter &&
           x.shape().rank() == static_cast<int>(order.size()) &&
           CompactParameterOrder(x, generation_) == Inverse(order);
  }

  // Costs nothing before a transpose by `order`, nor does what it is made of.
  bool Follows(const Instruction& x, absl::Span<const int64_t> order) const {
    return IsMadeOf(x, kDeepest, [&](const Instruction& leaf) {
      return IsFree(leaf) || LiesBefore(leaf, order);
    });
  }

  // Elementwise work on parameters: those are transposed rather than it, as
  // however they lie is nearer to the order than their dimensions are.
  static bool IsWorkOnParameters(const Instruction& x) {
    return IsMadeOf(x, kDeepest, [](const Instruction& leaf) {
      return IsFree(leaf) || leaf.opcode() == Opcode::kParameter;
    });
  }

  template <class Leaf>
  static bool IsMadeOf(const Instruction& x, int depth, const Leaf& is_leaf) {
    if (is_leaf(x)) return true;
    if (!x.IsElementwise() || x.opcode() == Opcode::kCopy || depth == 0 ||
        x.operand_count() == 0 || !x.control_predecessors().empty() ||
        !x.control_successors().empty()) {
      return false;
    }
    for (const Instruction* o : x.operands()) {
      if (o->shape().IsScalar() && !x.shape().IsScalar()) continue;
      if (!o->shape().SameDims(x.shape()) ||
          !IsMadeOf(*o, depth - 1, is_leaf)) {
        return false;
      }
    }
    return true;
  }

  // The order in which at least half of `arrays` come; none if it is another.
  std::optional<DimVector> Order(absl::Span<Instruction* const> arrays) const {
    const Instruction* first = nullptr;
    int moved = 0, others = 0;
    for (const Instruction* x : arrays) {
      if (!IsFree(*x) && Moves(x) && first == nullptr) first = x;
    }
    if (first == nullptr) return {};
    for (const Instruction* x : arrays) {
      if (Follows(*x, first->dimensions())) continue;
      if (!Moves(x)) {
        ++others;
        continue;
      }
      (x->dimensions() == first->dimensions() ? moved : others) += 1;
    }
    if (others > moved) return {};
    return DimVector(first->dimensions().begin(), first->dimensions().end());
  }

  // `x` before its transpose by `order`.
  Instruction* Before(Instruction* x, const DimVector& order) {
    if (Moves(x) && x->dimensions() == absl::MakeConstSpan(order)) {
      return x->operand(0);
    }
    const DimVector inverse = Inverse(order);
    const DimVector dims = Permuted(x->shape().dims(), inverse);
    if (!IsFree(*x) && x->opcode() != Opcode::kParameter &&
        IsWorkOnParameters(*x)) {
      std::vector<Instruction*> operands;
      for (Instruction* o : x->operands()) {
        operands.push_back(o->shape().IsScalar() ? o : Before(o, order));
      }
      return c_->AddLike(*x, Shape::Array(x->shape().type(), dims), operands);
    }
    switch (x->opcode()) {
      case Opcode::kIota:
        return b_.Iota(Shape::Array(x->shape().type(), dims),
                       order[x->attrs<IotaAttrs>().dimension]);
      case Opcode::kBroadcast: {
        // Dimensions of the source in the order that they then have.
        DimVector targets;
        for (int64_t d : x->dimensions()) targets.push_back(order[d]);
        DimVector sorted = targets, of_source;
        std::sort(sorted.begin(), sorted.end());
        for (int64_t t : sorted) {
          of_source.push_back(std::find(targets.begin(), targets.end(), t) -
                              targets.begin());
        }
        return b_.Broadcast(Transposed(&b_, x->operand(0), of_source), dims,
                            sorted);
      }
      default:
        return Transposed(&b_, x, inverse);
    }
  }

  Instruction* Behind(Instruction* value, const DimVector& order) {
    if (IsIdentityMapping(order)) return value;
    Instruction* t = b_.Transpose(value, order);
    moving_.insert(t);
    return t;
  }

  Instruction* Elementwise(Instruction* i) {
    std::vector<Instruction*> arrays;
    for (Instruction* o : i->operands()) {
      if (o->shape().SameDims(i->shape())) {
        arrays.push_back(o);
      } else if (!o->shape().IsScalar()) {
        return nullptr;
      }
    }
    const auto order = Order(arrays);
    if (!order.has_value()) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : Before(o, *order));
    }
    const Shape shape = Shape::Array(
        i->shape().type(), Permuted(i->shape().dims(), Inverse(*order)));
    return Behind(c_->AddLike(*i, shape, operands), *order);
  }

  Instruction* Reduce(Instruction* i) {
    if (i->operand_count() != 2) return nullptr;
    const auto order = Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    Instruction* x = Before(i->operand(0), *order);
    DimVector reduced, kept;
    for (int64_t d : i->dimensions()) reduced.push_back((*order)[d]);
    std::sort(reduced.begin(), reduced.end());
    const DimVector rest = Others(x->shape().rank(), reduced);
    for (size_t d = 0; d < order->size(); ++d) {
      if (Contains(i->dimensions(), static_cast<int64_t>(d))) continue;
      kept.push_back(std::find(rest.begin(), rest.end(), (*order)[d]) -
                     rest.begin());
    }
    return Behind(b_.Reduce(x, i->operand(1), reduced, i->to_apply()), kept);
  }

  Instruction* Windows(Instruction* i) {
    const bool scatters = i->opcode() == Opcode::kSelectAndScatter;
    if (!scatters && i->operand_count() != 2) return nullptr;
    std::vector<Instruction*> arrays = {i->operand(0)};
    if (scatters) arrays.push_back(i->operand(1));
    const auto order = Order(arrays);
    if (!order.has_value()) return nullptr;
    const Window& old = i->attrs<WindowAttrs>().window;
    WindowAttrs attrs;
    for (int64_t d : Inverse(*order)) {
      attrs.window.dims.push_back(old.dims[d]);
    }
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : Before(o, *order));
    }
    const Shape shape = Shape::Array(
        i->shape().type(), Permuted(i->shape().dims(), Inverse(*order)));
    Instruction* value = c_->AddLike(*i, shape, operands);
    value->set_attributes(attrs);
    return Behind(value, *order);
  }

  Instruction* Pad(Instruction* i) {
    const auto order = Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    const auto& old = i->attrs<PadAttrs>().dims;
    PadAttrs attrs;
    for (int64_t d : Inverse(*order)) attrs.dims.push_back(old[d]);
    return Behind(
        b_.Pad(Before(i->operand(0), *order), i->operand(1), attrs.dims),
        *order);
  }

  Instruction* Slice(Instruction* i) {
    const auto order = Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    const SliceAttrs& old = i->attrs<SliceAttrs>();
    const DimVector inverse = Inverse(*order);
    return Behind(
        b_.Slice(Before(i->operand(0), *order), Permuted(old.starts, inverse),
                 Permuted(old.limits, inverse), Permuted(old.strides, inverse)),
        *order);
  }

  Instruction* Concatenate(Instruction* i) {
    const auto order = Order(i->operands());
    if (!order.has_value()) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) operands.push_back(Before(o, *order));
    return Behind(b_.Concatenate(operands, (*order)[i->dimensions()[0]]),
                  *order);
  }

  Computation* c_;
  Builder b_;
  int generation_;
  absl::flat_hash_set<const Instruction*> moving_;
};

bool HasWindows(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kConvolution ||
        i->opcode() == Opcode::kReduceWindow ||
        i->opcode() == Opcode::kSelectAndScatter) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> TransposeMoverPass::Run(Module* module,
                                             const PassContext& context) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    if (!HasWindows(*c)) continue;
    changed |= Mover(c, context.chip->generation()).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo

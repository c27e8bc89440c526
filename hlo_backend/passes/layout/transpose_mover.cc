#include "hlo_backend/passes/layout/transpose_mover.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/window_canonicalizer.h"
#include "hlo_backend/passes/layout/compact_entry.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/gradient_order.h"
#include "hlo_backend/passes/layout/meeting_transposes.h"
#include "hlo_backend/passes/layout/product_planes.h"
#include "hlo_backend/passes/layout/repeated_rows.h"
#include "hlo_backend/passes/layout/reshape_of_rows.h"
#include "hlo_backend/passes/layout/result_products.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/layout/turned_rows.h"
#include "hlo_backend/passes/layout/unit_transposes.h"
#include "hlo_backend/passes/products/product_order.h"
#include "hlo_backend/passes/products/swapped_dot.h"

namespace ptxla::hlo {
namespace {

// Images of a convolution that was cut into blocks, put together again
// (space_to_batch.h).
bool IsOfBlocks(const Instruction& i) {
  const Instruction& all = i.opcode() == Opcode::kSlice ? *i.operand(0) : i;
  return all.opcode() == Opcode::kReshape &&
         all.operand(0)->opcode() == Opcode::kTranspose &&
         all.operand(0)->operand(0)->opcode() == Opcode::kConvolution;
}

// Has an order of dimensions of its own, and what follows takes it.
bool GivesOrder(const Instruction& i) {
  return i.opcode() == Opcode::kConvolution || IsPlaneWindow(i) ||
         NamesParameterAsItLies(i) || IsOfBlocks(i);
}

class Mover {
 public:
  Mover(Computation* c, int generation)
      : c_(c),
        b_(c),
        generation_(generation),
        in_product_order_(WorkInProductOrder(c)) {}

  bool Run() {
    bool changed = false;
    const auto meeting = MeetingTransposes(
        c_, [](const Instruction& x) { return IsFreeWork(x); });
    for (Instruction* i : c_->PostOrder()) {
      if (const auto order = AsTranspose(*i);
          order.has_value() && NamesParameterAsItLies(*i->operand(0))) {
        Instruction* t = Behind(i->operand(0), *order);
        of_entry_.insert(t);
        c_->Replace(i, t);
        changed = true;
        continue;
      }
      b_.set_metadata(i->shared_metadata());
      if (Instruction* made = MadeOtherwise(i); made != nullptr) {
        c_->Replace(i, made);
        changed = true;
        continue;
      }
      if (i->opcode() == Opcode::kTranspose &&
          moving_.contains(i->operand(0))) {
        c_->Replace(i, Met(*i));
        changed = true;
        continue;
      }
      if (i->opcode() == Opcode::kTranspose &&
          (GivesOrder(*i->operand(0)) || meeting.contains(i) ||
           (c_->IsEntry() && IsTurnedResultProduct(*i)) ||
           LeavesLanesEmpty(*i, generation_))) {
        moving_.insert(i);
        if (NamesParameterAsItLies(*i->operand(0))) of_entry_.insert(i);
        continue;
      }
      Instruction* value = Moved(i);
      if (value == nullptr) {
        if (IsWorkOfEntry(*i)) of_entry_.insert(i);
        continue;
      }
      c_->Replace(i, value);
      changed = true;
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  bool Moves(const Instruction* x) const { return moving_.contains(x); }

  // A product in another order of dimensions, or free work; null: neither.
  Instruction* MadeOtherwise(Instruction* i) {
    if (IsWantedTransposed(*i)) {
      const Shape shape = Shape::Array(i->shape().type(),
                                       {i->shape().dim(1), i->shape().dim(0)});
      return Behind(SwappedDot(i, shape), {1, 0});
    }
    if (const auto planes = MadeOfPlanes(b_, i, generation_);
        planes.product != nullptr) {
      return Behind(planes.product, planes.order);
    }
    if (Instruction* turned = OfTurnedRows(i); turned != nullptr) return turned;
    return MadeInOrder(b_, i);
  }

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
      case Opcode::kSlice:
      case Opcode::kReverse:
        return OfOneArray(i);
      case Opcode::kConcatenate:
        return Concatenate(i);
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
        return Part(i);
      case Opcode::kReshape:
        return Reshape(i);
      default:
        return nullptr;
    }
  }

  bool IsOfEntry(const Instruction* x) const {
    return of_entry_.contains(x) ||
           (x->opcode() == Opcode::kParameter && c_->IsEntry());
  }

  bool IsWorkOfEntry(const Instruction& i) const {
    return i.IsElementwise() &&
           std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) {
                         return o->shape().SameDims(i.shape()) && !Moves(o) &&
                                IsOfEntry(o);
                       });
  }

  // The order in which most of `arrays` come that are not free, of several that
  // of the entry's arrays: an optimizer's results will lie so. None if fewer
  // than half come transposed in one way.
  std::optional<DimVector> Order(absl::Span<Instruction* const> arrays) const {
    struct Candidate {
      DimVector order;
      int arrays = 0, of_entry = 0;
    };
    std::vector<Candidate> orders;
    int given = 0;
    for (const Instruction* x : arrays) {
      if (IsFreeWork(*x)) continue;
      ++given;
      DimVector order;  // empty: as the dimensions are
      if (Moves(x)) {
        order.assign(x->dimensions().begin(), x->dimensions().end());
      } else if (!IsOfEntry(x)) {
        continue;
      }
      auto it = std::find_if(orders.begin(), orders.end(),
                             [&](const auto& c) { return c.order == order; });
      if (it == orders.end()) it = orders.insert(it, Candidate{order});
      ++it->arrays;
      it->of_entry += IsOfEntry(x) ? 1 : 0;
    }
    const auto best =
        std::max_element(orders.begin(), orders.end(),
                         [](const Candidate& a, const Candidate& b) {
                           return std::pair(a.arrays, a.of_entry) <
                                  std::pair(b.arrays, b.of_entry);
                         });
    if (best == orders.end() || best->order.empty() ||
        2 * best->arrays < given) {
      return {};
    }
    return best->order;
  }

  // `x` before its transpose by `order`.
  Instruction* Before(Instruction* x, const DimVector& order) {
    if (Moves(x) && x->dimensions() == absl::MakeConstSpan(order)) {
      return x->operand(0);
    }
    const DimVector inverse = Inverse(order);
    return IsFreeWork(*x) ? FreeWorkInOrder(b_, x, inverse)
                          : Transposed(&b_, x, inverse);
  }

  Instruction* Behind(Instruction* value, const DimVector& order) {
    if (IsIdentityMapping(order)) return value;
    Instruction* t = b_.Transpose(value, order);
    moving_.insert(t);
    return t;
  }

  // One transpose of a transpose that moves; what is left of both goes on.
  Instruction* Met(const Instruction& i) {
    const Instruction& moving = *i.operand(0);
    return Behind(moving.operand(0),
                  Permuted(moving.dimensions(), i.dimensions()));
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
    const auto given = in_product_order_.find(i);
    const auto order = given != in_product_order_.end()
                           ? std::optional(given->second)
                           : Order(arrays);
    if (!order.has_value() || IsIdentityMapping(*order)) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : Before(o, *order));
    }
    const Shape shape = Shape::Array(
        i->shape().type(), Permuted(i->shape().dims(), Inverse(*order)));
    const bool of_entry =
        std::any_of(arrays.begin(), arrays.end(), [&](const Instruction* x) {
          return Moves(x) && IsOfEntry(x) &&
                 x->dimensions() == absl::MakeConstSpan(*order);
        });
    Instruction* value = Behind(c_->AddLike(*i, shape, operands), *order);
    if (of_entry && Moves(value)) of_entry_.insert(value);
    return value;
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

  // A pad, a slice or a reversal.
  Instruction* OfOneArray(Instruction* i) {
    const auto order = Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    const DimVector inverse = Inverse(*order);
    Instruction* x = Before(i->operand(0), *order);
    if (i->opcode() == Opcode::kPad) {
      const auto& old = i->attrs<PadAttrs>().dims;
      PadAttrs attrs;
      for (int64_t d : inverse) attrs.dims.push_back(old[d]);
      x = b_.Pad(x, i->operand(1), attrs.dims);
    } else if (i->opcode() == Opcode::kSlice) {
      const SliceAttrs& old = i->attrs<SliceAttrs>();
      x = b_.Slice(x, Permuted(old.starts, inverse),
                   Permuted(old.limits, inverse),
                   Permuted(old.strides, inverse));
    } else {
      x = b_.Reverse(x, Permuted(*order, i->dimensions()));
    }
    return Behind(x, *order);
  }

  Instruction* Concatenate(Instruction* i) {
    const auto order = Order(i->operands());
    if (!order.has_value()) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) operands.push_back(Before(o, *order));
    return Behind(b_.Concatenate(operands, (*order)[i->dimensions()[0]]),
                  *order);
  }

  // A part of an array whose start is data (a cache): as in libtpu the array
  // stays as it lies, and the part is turned.
  Instruction* Part(Instruction* i) {
    Instruction* x = i->operand(0);
    const bool updates = i->opcode() == Opcode::kDynamicUpdateSlice;
    const int first = updates ? 2 : 1;  // of the starts
    if (!Moves(x) || i->operand_count() != first + i->shape().rank()) {
      return nullptr;
    }
    const DimVector order(x->dimensions().begin(), x->dimensions().end());
    const DimVector inverse = Inverse(order);
    std::vector<Instruction*> starts;
    for (const int64_t d : inverse) {
      starts.push_back(i->operand(static_cast<int>(first + d)));
    }
    Instruction* y = x->operand(0);
    return Behind(
        updates
            ? b_.DynamicUpdateSlice(y, Before(i->operand(1), order), starts)
            : b_.DynamicSlice(y, starts, Permuted(i->shape().dims(), inverse)),
        order);
  }

  Instruction* OfTurnedRows(Instruction* i) {
    const Instruction* rows = RowsOfProduct(*i);
    if (rows == nullptr || !Moves(rows)) return nullptr;
    auto turned = MadeOfTurnedRows(b_, i, generation_);
    if (turned.product == nullptr) turned = MadeOfWholeRows(i);
    if (turned.product == nullptr) return nullptr;
    Instruction* value = Behind(turned.product, turned.order);
    if (value->shape().SameDims(i->shape())) return value;
    return b_.Reshape(value, i->shape().dims());
  }

  Instruction* Reshape(Instruction* i) {
    Instruction* x = i->operand(0);
    if (x->opcode() == Opcode::kReshape && Moves(x->operand(0)) &&
        x->operand(0)->shape().SameDims(i->shape())) {
      return x->operand(0);  // there and back
    }
    if (const auto rows = RepeatRows(*i);
        rows.has_value() && Moves(x->operand(0))) {
      Instruction* y = x->operand(0)->operand(0);
      return Behind(
          b_.Reshape(b_.Broadcast(y, rows->sizes, rows->at), rows->dims),
          rows->order);
    }
    if (!Moves(x)) return nullptr;
    if (const auto rows = ReshapeOfRows(*i); rows.has_value()) {
      Instruction* y = Transposed(&b_, x->operand(0), rows->inner);
      return Behind(b_.Reshape(y, rows->dims), rows->order);
    }
    const auto units = WithUnitsInFront(*i);
    if (!units.has_value()) return nullptr;
    return Behind(b_.Reshape(i->operand(0)->operand(0), units->dims),
                  units->order);
  }

  Computation* c_;
  Builder b_;
  const int generation_;
  const absl::flat_hash_map<const Instruction*, DimVector> in_product_order_;
  absl::flat_hash_set<const Instruction*> moving_;
  // What is made of arrays of the entry, in their order; if that is not the one
  // of the dimensions, the transposes behind it.
  absl::flat_hash_set<const Instruction*> of_entry_;
};

}  // namespace

absl::StatusOr<bool> TransposeMoverPass::Run(Module* module,
                                             const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const int generation = GenerationOf(context);
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= OrderGradients(c, generation);
    changed |= Mover(c, generation).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo

#include "hlo_backend/passes/layout/transpose_mover.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/window_canonicalizer.h"
#include "hlo_backend/passes/layout/compact_entry.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/gradient_order.h"
#include "hlo_backend/passes/layout/matrix_over_planes.h"
#include "hlo_backend/passes/layout/meeting_transposes.h"
#include "hlo_backend/passes/layout/moving_transposes.h"
#include "hlo_backend/passes/layout/product_planes.h"
#include "hlo_backend/passes/layout/repeated_rows.h"
#include "hlo_backend/passes/layout/reshape_of_rows.h"
#include "hlo_backend/passes/layout/result_products.h"
#include "hlo_backend/passes/layout/stacks_in_front.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/layout/turned_parts.h"
#include "hlo_backend/passes/layout/turned_rows.h"
#include "hlo_backend/passes/layout/turned_tables.h"
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
        moving_(&b_),
        generation_(generation),
        in_product_order_(WorkInProductOrder(c)) {}

  bool Run() {
    bool changed = false;
    const auto meeting = MeetingTransposes(
        c_, [](const Instruction& x) { return IsFreeWork(x); });
    for (Instruction* i : c_->PostOrder()) {
      if (const auto order = AsTranspose(*i);
          order.has_value() && NamesParameterAsItLies(*i->operand(0))) {
        Instruction* t = moving_.Behind(i->operand(0), *order);
        moving_.AddToEntry(t);
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
      if (i->opcode() == Opcode::kTranspose && moving_.Moves(i->operand(0))) {
        c_->Replace(i, moving_.Met(*i));
        changed = true;
        continue;
      }
      if (i->opcode() == Opcode::kTranspose &&
          (GivesOrder(*i->operand(0)) || meeting.contains(i) ||
           (c_->IsEntry() && IsTurnedResultProduct(*i)) ||
           LeavesLanesEmpty(*i, generation_))) {
        moving_.Start(i);
        if (NamesParameterAsItLies(*i->operand(0))) moving_.AddToEntry(i);
        continue;
      }
      Instruction* value = Moved(i);
      if (value == nullptr) {
        if (moving_.IsWorkOfEntry(*i)) moving_.AddToEntry(i);
        continue;
      }
      c_->Replace(i, value);
      changed = true;
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  // A product in another order of dimensions, or free work; null: neither.
  Instruction* MadeOtherwise(Instruction* i) {
    if (IsWantedTransposed(*i)) {
      const Shape shape = Shape::Array(i->shape().type(),
                                       {i->shape().dim(1), i->shape().dim(0)});
      return moving_.Behind(SwappedDot(i, shape), {1, 0});
    }
    if (Instruction* turned = OfTurnedRows(i); turned != nullptr) return turned;
    const auto moves = [this](const Instruction& x) {
      return moving_.Moves(&x);
    };
    if (const auto planes = MadeOverPlanes(b_, i, moves, generation_);
        planes.product != nullptr) {
      Instruction* value = moving_.Behind(planes.product, planes.order);
      return value->shape().SameDims(i->shape())
                 ? value
                 : b_.Reshape(value, i->shape().dims());
    }
    if (const auto planes = MadeOfPlanes(b_, i, generation_);
        planes.product != nullptr) {
      return moving_.Behind(planes.product, planes.order);
    }
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
        return OfTurnedArray(&b_, &moving_, i);
      case Opcode::kReshape:
        return Reshape(i);
      case Opcode::kGather:
      case Opcode::kScatter:
        return OfTurnedTable(&b_, &moving_, i, generation_);
      case Opcode::kOptimizationBarrier:
        return moving_.BehindBarrier(*i);
      case Opcode::kGetTupleElement:
        // (Of a barrier that was passed.)
        return i->operand(0)->opcode() == Opcode::kTuple
                   ? i->operand(0)->operand(i->tuple_index())
                   : nullptr;
      default:
        return nullptr;
    }
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
                           : moving_.Order(arrays);
    if (!order.has_value() || IsIdentityMapping(*order)) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : moving_.Before(o, *order));
    }
    const Shape shape = Shape::Array(
        i->shape().type(), Permuted(i->shape().dims(), Inverse(*order)));
    const bool of_entry =
        std::any_of(arrays.begin(), arrays.end(), [&](const Instruction* x) {
          return moving_.Moves(x) && moving_.IsOfEntry(x) &&
                 x->dimensions() == absl::MakeConstSpan(*order);
        });
    Instruction* value =
        moving_.Behind(c_->AddLike(*i, shape, operands), *order);
    if (of_entry && moving_.Moves(value)) moving_.AddToEntry(value);
    return value;
  }

  Instruction* Reduce(Instruction* i) {
    if (i->operand_count() != 2) return nullptr;
    const auto order = moving_.Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    Instruction* x = moving_.Before(i->operand(0), *order);
    DimVector reduced, kept;
    for (int64_t d : i->dimensions()) reduced.push_back((*order)[d]);
    std::sort(reduced.begin(), reduced.end());
    const DimVector rest = Others(x->shape().rank(), reduced);
    for (size_t d = 0; d < order->size(); ++d) {
      if (Contains(i->dimensions(), static_cast<int64_t>(d))) continue;
      kept.push_back(std::find(rest.begin(), rest.end(), (*order)[d]) -
                     rest.begin());
    }
    return moving_.Behind(b_.Reduce(x, i->operand(1), reduced, i->to_apply()),
                          kept);
  }

  Instruction* Windows(Instruction* i) {
    const bool scatters = i->opcode() == Opcode::kSelectAndScatter;
    if (!scatters && i->operand_count() != 2) return nullptr;
    std::vector<Instruction*> arrays = {i->operand(0)};
    if (scatters) arrays.push_back(i->operand(1));
    const auto order = moving_.Order(arrays);
    if (!order.has_value()) return nullptr;
    const Window& old = i->attrs<WindowAttrs>().window;
    WindowAttrs attrs;
    for (int64_t d : Inverse(*order)) {
      attrs.window.dims.push_back(old.dims[d]);
    }
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : moving_.Before(o, *order));
    }
    const Shape shape = Shape::Array(
        i->shape().type(), Permuted(i->shape().dims(), Inverse(*order)));
    Instruction* value = c_->AddLike(*i, shape, operands);
    value->set_attributes(attrs);
    return moving_.Behind(value, *order);
  }

  // A pad, a slice or a reversal.
  Instruction* OfOneArray(Instruction* i) {
    const auto order = moving_.Order({i->operand(0)});
    if (!order.has_value()) return nullptr;
    const DimVector inverse = Inverse(*order);
    Instruction* x = moving_.Before(i->operand(0), *order);
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
    return moving_.Behind(x, *order);
  }

  Instruction* Concatenate(Instruction* i) {
    const auto order = moving_.Order(i->operands());
    if (!order.has_value()) {
      const auto stack = InFront(b_, *i, generation_);
      return stack.has_value() ? moving_.Behind(stack->planes, stack->order)
                               : nullptr;
    }
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands())
      operands.push_back(moving_.Before(o, *order));
    return moving_.Behind(
        b_.Concatenate(operands, (*order)[i->dimensions()[0]]), *order);
  }

  Instruction* OfTurnedRows(Instruction* i) {
    const Instruction* rows = RowsOfProduct(*i);
    if (rows == nullptr || !moving_.Moves(rows)) return nullptr;
    if (Instruction* product = MadeOfContractedRows(i); product != nullptr) {
      return product;
    }
    auto turned = MadeOfTurnedRows(b_, i, generation_);
    if (turned.product == nullptr) turned = MadeOfWholeRows(i);
    if (turned.product == nullptr) return nullptr;
    Instruction* value = moving_.Behind(turned.product, turned.order);
    if (value->shape().SameDims(i->shape())) return value;
    return b_.Reshape(value, i->shape().dims());
  }

  Instruction* Reshape(Instruction* i) {
    Instruction* x = i->operand(0);
    if (x->opcode() == Opcode::kReshape && moving_.Moves(x->operand(0)) &&
        x->operand(0)->shape().SameDims(i->shape())) {
      return x->operand(0);  // there and back
    }
    if (const auto rows = RepeatRows(*i);
        rows.has_value() && moving_.Moves(x->operand(0))) {
      Instruction* y = x->operand(0)->operand(0);
      return moving_.Behind(
          b_.Reshape(b_.Broadcast(y, rows->sizes, rows->at), rows->dims),
          rows->order);
    }
    if (!moving_.Moves(x)) return nullptr;
    if (const auto rows = ReshapeOfRows(*i); rows.has_value()) {
      Instruction* y = Transposed(&b_, x->operand(0), rows->inner);
      return moving_.Behind(b_.Reshape(y, rows->dims), rows->order);
    }
    auto units = WithUnitsInFront(*i);
    if (!units.has_value()) units = WithoutUnits(*i);
    if (!units.has_value()) return nullptr;
    return moving_.Behind(b_.Reshape(i->operand(0)->operand(0), units->dims),
                          units->order);
  }

  Computation* c_;
  Builder b_;
  MovingTransposes moving_;
  const int generation_;
  const absl::flat_hash_map<const Instruction*, DimVector> in_product_order_;
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

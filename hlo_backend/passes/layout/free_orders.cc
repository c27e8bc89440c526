#include "hlo_backend/passes/layout/free_orders.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/free_work.h"

namespace ptxla::hlo {
namespace {

bool IsLoneReduce(const Instruction& i) {
  return i.opcode() == Opcode::kReduce && i.operand_count() == 2 &&
         !HasControlEdges(i);
}

// Dimension k of the operand of `reader` is dimension order[k] of that of
// `free`; empty: they are not over the same dimensions.
DimVector OrderThatReaderWants(const Instruction& reader,
                               const Instruction& free) {
  const Shape& from = free.operand(0)->shape();
  const Shape& like = reader.operand(0)->shape();
  if (from.rank() != like.rank() || !reader.shape().SameDims(free.shape())) {
    return {};
  }
  const DimVector kept = Others(from.rank(), free.dimensions());
  DimVector order;
  size_t next_kept = 0, next_reduced = 0;
  for (int k = 0; k < like.rank(); ++k) {
    order.push_back(Contains(reader.dimensions(), k)
                        ? free.dimensions()[next_reduced++]
                        : kept[next_kept++]);
    if (from.dim(static_cast<int>(order.back())) != like.dim(k)) return {};
  }
  return order;
}

// Where dimensions of the value are after that.
DimVector PlacesInOrder(absl::Span<const int64_t> dims,
                        const DimVector& order) {
  DimVector places;
  for (int64_t k = 0; k < static_cast<int64_t>(order.size()); ++k) {
    if (Contains(dims, order[k])) places.push_back(k);
  }
  return places;
}

// That of a reader, or empty: one of them has the order of the free value, or
// there is none.
DimVector BestOrder(absl::Span<Instruction* const> readers,
                    const Instruction& free) {
  DimVector best;
  for (const Instruction* reader : readers) {
    const DimVector order = OrderThatReaderWants(*reader, free);
    if (order.empty()) continue;
    if (IsIncreasing(order)) return {};
    if (best.empty()) best = order;
  }
  return best;
}

bool Reorder(Computation* c) {
  std::vector<Instruction*> free, readers;
  for (Instruction* i : c->PostOrder()) {
    if (!IsLoneReduce(*i)) continue;
    (IsFreeWork(*i->operand(0)) ? free : readers).push_back(i);
  }
  bool changed = false;
  for (Instruction* i : free) {
    const DimVector order = BestOrder(readers, *i);
    if (order.empty()) continue;
    Builder b(c);
    b.set_metadata(i->shared_metadata());
    Instruction* terms = FreeWorkInOrder(b, i->operand(0), order);
    c->Replace(
        i, b.Reduce(terms, i->operand(1), PlacesInOrder(i->dimensions(), order),
                    i->to_apply()));
    changed = true;
  }
  if (changed) c->RemoveDead();
  return changed;
}

}  // namespace

absl::StatusOr<bool> FreeOrdersPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) changed |= Reorder(c);
  return changed;
}

}  // namespace ptxla::hlo

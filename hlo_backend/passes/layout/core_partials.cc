#include "hlo_backend/passes/layout/core_partials.h"

#include <optional>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kLanes = 128;
// Rows whose values share a row of a tile, of two cores.
constexpr int64_t kLeastRows = 2 * kLanes;
// Members whose values are rows of a tile, of two cores.
constexpr int64_t kLeastMembers = 2 * 8;

// Dimensions of the first reduce; empty: it stays one.
DimVector FirstOf(const Instruction& reduce, const chips::ChipSpec& chip) {
  const auto least = [&](const char* of) {
    return chips::WholePolicy(chip, of);
  };
  const Shape& x = reduce.operand(0)->shape();
  const int rank = x.rank(), last = rank - 1;
  const absl::Span<const int64_t> reduced = reduce.dimensions();
  if (rank < 2 || Product(x.dims()) < least("core_partials_elements"))
    return {};
  const bool all = static_cast<int>(reduced.size()) == rank;
  if (all && x.dim(last) >= least("core_partials_row") &&
      Product(x.dims()) / x.dim(last) >= kLeastRows) {
    return {last};
  }
  const bool column = static_cast<int>(reduced.size()) == last &&
                      !Contains(reduced, last) && x.dim(last) <= kLanes;
  if (!(all || column) || rank < 3 || x.dim(0) < kLeastMembers) return {};
  DimVector inner;
  int64_t rows = 1;
  for (int d = 1; d < last; ++d) {
    inner.push_back(d);
    rows *= x.dim(d);
  }
  return rows < least("core_partials_member_rows") ? DimVector() : inner;
}

// The type that partial values have: those of narrow sums would be rounded.
// None: it stays one reduce.
std::optional<PrimitiveType> PartialType(const Instruction& reduce) {
  const PrimitiveType type = reduce.shape().type();
  const auto op = MonoidOf(*reduce.to_apply());
  if (!op.has_value() || !StartMayRepeat(reduce)) return std::nullopt;
  if (*op == Opcode::kMaximum || *op == Opcode::kMinimum ||
      BitWidth(type) == 32) {
    return type;
  }
  if (*op == Opcode::kAdd && type == PrimitiveType::kBf16) {
    return PrimitiveType::kF32;
  }
  return std::nullopt;
}

// A reduce over `first`, and one over what else is reduced.
Instruction* InTwo(Builder* b, const Instruction& i, PrimitiveType type,
                   const DimVector& first) {
  const bool wider = type != i.shape().type();
  Computation* combine = wider ? b->Scalar2(Opcode::kAdd, type) : i.to_apply();
  // A sum's start may repeat if it is zero.
  Instruction* start = wider ? b->Zero(type) : i.operand(1);
  Instruction* x = wider ? b->Convert(i.operand(0), type) : i.operand(0);
  Instruction* partial = b->Reduce(x, start, first, combine);
  DimVector rest;
  for (int d = 0; d < partial->shape().rank(); ++d) {
    const bool kept = !i.shape().IsScalar() && d + 1 == partial->shape().rank();
    if (!kept) rest.push_back(d);
  }
  Instruction* whole = b->Reduce(partial, start, rest, combine);
  return wider ? b->Convert(whole, i.shape().type()) : whole;
}

}  // namespace

absl::StatusOr<bool> CorePartialsPass::Run(Module* module,
                                           const PassContext& context) {
  if (context.chip == nullptr || context.chip->core().cores_in_use == 1) {
    return false;
  }
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kReduce || i->operand_count() != 2 ||
          i->shape().has_layout() || HasControlEdges(*i)) {
        continue;
      }
      const std::optional<PrimitiveType> type = PartialType(*i);
      if (!type.has_value()) continue;
      const DimVector first = FirstOf(*i, *context.chip);
      if (first.empty()) continue;
      Builder b(c);
      b.set_metadata(i->shared_metadata());
      c->Replace(i, InTwo(&b, *i, *type, first));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

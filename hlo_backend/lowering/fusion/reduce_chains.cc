#include "hlo_backend/lowering/fusion/reduce_chains.h"

#include "base/status.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

using codegen::Vec;

void ReduceChains::Start(NestCode& n, const Region& region) {
  kept_rows_ = KeepsRows(g_) ? region.rows : 1;
  kept_columns_ = KeepsColumns(g_) ? region.columns : 1;
  local_ = n.joined();
  accumulators_.clear();
  for (const Reduction& r : t_.reductions) {
    if (!IsOfStage(r)) continue;
    for (int row = 0; row < kept_rows_; ++row) {
      for (int c = 0; c < kept_columns_; ++c) {
        accumulators_.push_back(First(n, r, row, c));
      }
    }
  }
}

// What a chain begins with; nothing, where its first value will do.
Vec ReduceChains::First(NestCode& n, const Reduction& r, int row, int column) {
  const int k = t_.NumberOf(r);
  if (n.joined()) {
    return t_.reduced_grid.empty() ? Vec() : partials_.Load(n, k, row, column);
  }
  const Vec acc = b_.GlobalVec();
  if (t_.reduced_grid.empty()) {
    partials_.Start(r, acc);
  } else {
    b_.Redirect(partials_.Load(n, k, row, column), acc);
  }
  return acc;
}

absl::Status ReduceChains::Add(NestCode& n, const Reduction& r, Vec words,
                               int row, int column) {
  RETURN_IF_ERROR(AddPositions(n, r, words, row, column));
  return Accumulate(r, words, &Of(r, row, column));
}

Vec& ReduceChains::Of(const Reduction& r, int y, int x) {
  size_t before = 0;
  for (const Reduction& other : t_.reductions) {
    if (&other == &r) break;
    before += IsOfStage(other) ? 1 : 0;
  }
  return accumulators_[(before * kept_rows_ + (KeepsRows(g_) ? y : 0)) *
                           kept_columns_ +
                       (KeepsColumns(g_) ? x : 0)];
}

// Positions of a reduction's extrema, before `words` are met.
absl::Status ReduceChains::AddPositions(NestCode& n, const Reduction& extremum,
                                        Vec words, int y, int x) {
  for (const Reduction& r : t_.reductions) {
    if (t_.ExtremumOf(r) != &extremum) continue;
    ASSIGN_OR_RETURN(const Vec here, terms_.Positions(n, r, y, x));
    Vec& accumulator = Of(r, y, x);
    if (!accumulator.valid()) {
      accumulator = here;
      continue;
    }
    ASSIGN_OR_RETURN(
        const Vec v,
        PositionFold(extremum, r, b_)
            .Earlier({Of(extremum, y, x), accumulator}, {words, here}));
    if (local_) {
      accumulator = v;
    } else {
      b_.Redirect(v, accumulator);
    }
  }
  return absl::OkStatus();
}

// A chain, as the TPU compiler has it, through one register per kept tile.
absl::Status ReduceChains::Accumulate(const Reduction& r, Vec value,
                                      Vec* accumulator) {
  if (!accumulator->valid()) {
    *accumulator = value;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Value v, EmitMonoid(b_, r.op, r.type, Value::Of(value),
                                       Value::Of(*accumulator)));
  if (local_) {
    *accumulator = v.vec;
  } else {
    b_.Redirect(v.vec, *accumulator);
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering

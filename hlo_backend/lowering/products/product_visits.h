// The weight tiles that a grid step visits: one visit loads a weight tile into
// each MXU and streams LHS rows through all of them.
//
// On a 128-wide array a weight tile is 128 x 128. On a 256-wide array it is
// 256 x 256 or, where K <= 128, block-diagonal: two column tiles against one
// LHS (kTwoColumns), or, where N <= 128 too, two row blocks against one column
// tile (kTwoRows); reference: tpu_hardware.md section 7.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_VISITS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_VISITS_H_

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

enum class WeightForm { kFull, kTwoColumns, kTwoRows };

struct VisitPlan {
  WeightForm form = WeightForm::kFull;
  int64_t tile_k = 128;  // K and N that one visit of one MXU covers
  int64_t tile_n = 128;
  // A group is what one packed register of LHS rows (two for kTwoRows) becomes:
  // one matmul, or two where the MXU takes f32 rows.
  int64_t rows = 16;          // LHS rows per group
  int64_t groups = 1;         // per visit and MXU
  int64_t group_cycles = 16;  // issue interval of a group's matmuls
  int64_t pushes = 8;         // of packed registers, per visit and MXU
  int64_t push_cycles = 32;   // of all of them
  int64_t k_visits = 1;       // K tiles times passes, per macro tile and step
  int64_t macros = 1;         // (batch, columns) tiles of one MXU in a step
  int64_t macros_b = 1, macros_n = 1;  // macros == macros_b * macros_n
  int64_t results = 2;                 // popped per group
  int64_t lhs_vregs = 1;               // loaded per group, before conversion
};

// Of a tile of transposed weights: columns that nobody asks for stay what they
// were in the array, as do their results.
inline int64_t ColumnsPushed(const ProductProblem& p) {
  return std::min<int64_t>(128, p.n);
}

inline VisitPlan PlanVisits(const ProductProblem& p, const ProductTile& t,
                            const ArrayShape& a) {
  VisitPlan v;
  const bool wide = a.size == 256;
  const bool narrow_k = t.block_k <= 128;
  const bool narrow_n = CeilOfRatio<int64_t>(t.block_n, t.split_n) <= 128;
  if (wide && narrow_k) {
    v.form = narrow_n ? WeightForm::kTwoRows : WeightForm::kTwoColumns;
  }
  v.tile_k = wide && !narrow_k ? 256 : 128;
  v.tile_n = wide && v.form != WeightForm::kTwoRows ? 256 : 128;
  v.rows = v.form == WeightForm::kTwoRows ? 2 * a.unit : a.unit;
  const int64_t m_per_mxu = CeilOfRatio<int64_t>(t.block_m, t.split_m);
  v.groups = CeilOfRatio(m_per_mxu, v.rows);
  v.group_cycles = a.unit / a.rows * a.interval;
  // A plain push walks down K, a transposed one down N; each covers 128 of
  // the other dimension, and 256 of it with the second operand.
  const int64_t down = p.rhs.transposed ? ColumnsPushed(p) : 128;
  v.pushes = CeilOfRatio<int64_t>(down, a.unit) * (v.tile_k / 128);
  v.push_cycles = v.pushes * (a.unit / a.push_rows) * a.push_interval;
  v.k_visits =
      CeilOfRatio(t.block_k, v.tile_k) * static_cast<int64_t>(p.passes.size());
  v.macros_b = CeilOfRatio<int64_t>(t.block_b, t.split_b);
  v.macros_n = CeilOfRatio<int64_t>(t.block_n, v.tile_n * t.split_n);
  v.macros = v.macros_b * v.macros_n;
  v.results = a.unit / 8 * (a.size / 128);
  v.lhs_vregs = (wide && v.form != WeightForm::kTwoColumns ? 2 : 1) *
                (p.lhs.type == hlo::PrimitiveType::kF32 ? 2 : 1);
  return v;
}

// An epilogue that takes the vector units longer than the arrays take for the
// rows that it belongs to is put off: finished sums wait in VMEM and are worked
// on under the products of the next columns.
inline bool PutsOffEpilogue(const ProductProblem& p, const VisitPlan& v,
                            int64_t mxus, const isa::MachineModel& machine) {
  const int64_t operations = v.results * mxus * (1 + p.epilogue_ops);
  return v.k_visits > 1 && v.macros > 1 &&
         operations > v.group_cycles * machine.Slots(isa::Slot::kVector);
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_VISITS_H_

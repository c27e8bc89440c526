// Reduces of columns in a kernel that reduces rows over the same values: both
// sums of a normalisation's gradient in one pass.
//
//   f32[4096] reduce(f32[4096,2048] %v), dimensions={1}   // ReduceTiling::
//                                                            reductions
//   f32[2048] reduce(f32[4096,2048] %u), dimensions={0}   // ::of_columns
//
// Every column of tiles has a register of partial results in scratch, for the
// whole kernel: a body adds up its rows and then to that. The last step folds
// the sublanes.
//
//   ColumnSums columns(e, g, tiling, b);
//   columns.Fill();                          // before the nest
//   columns.AddPointers(nest);               // when it sets up addresses
//   columns.AddRows(nest, region, 0, 8);     // in a body, row by row
//   columns.Store(nest, region);             // at its end
//   columns.Finish();                        // behind the nest
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_COLUMN_SUMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_COLUMN_SUMS_H_

#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduce_terms.h"
#include "hlo_backend/lowering/fusion/reduce_tiling.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Adds Expression::of_columns to the tiling, with their scratch and windows.
// Unimplemented where more than two cores share the steps.
absl::Status AddColumnSums(const KernelContext& context,
                           const hlo::Instruction& i, const Expression& e,
                           const Geometry& g, ReduceTiling* t);

class ColumnSums {
 public:
  ColumnSums(const Expression& e, const Geometry& g, const ReduceTiling& t,
             codegen::CodeBuilder& b)
      : g_(g), t_(t), b_(b), terms_(e, g, b), pointers_(t.of_columns.size()) {}

  void Fill();
  void AddPointers(NestCode& n);
  // Rows of tiles [first, end) of the open region.
  absl::Status AddRows(NestCode& n, const Region& region, int first, int end);
  absl::Status Store(NestCode& n, const Region& region);
  absl::Status Finish();

 private:
  int32_t Offset(const NestCode& n, size_t k, int column) const;
  // Code for the first (last) step alone.
  void Begin(isa::When::Kind kind);
  void End();

  const Geometry& g_;
  const ReduceTiling& t_;
  codegen::CodeBuilder& b_;
  ReduceTerms terms_;
  std::vector<int> pointers_;  // per reduction
  // Of the body, by reduction and column: what its rows have come to.
  std::vector<codegen::Vec> sums_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_COLUMN_SUMS_H_

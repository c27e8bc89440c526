// Where the elements that a gather names lie in its table, a tiled array.
//
//   gather(f32[N] table, s32[M]), start_index_map={0}
//   gather(f32[R,C] table, s32[2,M]), start_index_map={0,1}, index_vector_dim=0
//   gather(f32[P,R,C] table, s32[3,M]), start_index_map={0,1,2}, ...
//
//   ASSIGN_OR_RETURN(const ElementIndex index, ElementIndex::Of(gather));
//   const int window = index.AddWindow(1, 1024, steps, &tiling);
//   // in the body, of element n of the step:
//   const Sca at = index.At(b, window_address, n);
//   const ElementIndex::Element e = index.Load(b, at, 0);
//   index.Row(b, e), index.Lane(b, e), index.Part(b, e)
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ELEMENT_INDEX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ELEMENT_INDEX_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

class ElementIndex {
 public:
  // Unimplemented: other gathers.
  static absl::StatusOr<ElementIndex> Of(const hlo::Instruction& gather);

  const PhysicalArray& table() const { return table_; }

  // SMEM bytes of the indices of so many elements, a multiple of 128.
  int64_t SlotBytes(int64_t elements) const;
  // As that of rows.
  void SetSteps(int64_t elements, int64_t steps);
  // Adds the window that brings the indices of a step to SMEM.
  int AddWindow(int arg, int64_t elements, int64_t steps, Tiling* tiling) const;

  // Where in SMEM the indices of element `n` of the step are.
  codegen::Sca At(codegen::CodeBuilder& b, codegen::Sca window,
                  codegen::Sca n) const;
  // The indices of the element `beyond` that at `at`, clamped if they are not
  // known to be inside (row_index.h). Both are among the same 128.
  struct Element {
    codegen::Sca plane, row, column;
  };
  Element Load(codegen::CodeBuilder& b, codegen::Sca at, int beyond) const;
  // Where the row of 128 words is that the element is in (in units of the
  // table's place_shift()), its lane there, and of narrow types which part of
  // its word it is.
  codegen::Sca Row(codegen::CodeBuilder& b, const Element& e) const;
  codegen::Sca Lane(codegen::CodeBuilder& b, const Element& e) const;
  codegen::Sca Part(codegen::CodeBuilder& b, const Element& e) const;

 private:
  // Along the table's dimension `k`, counted from the major end of memory.
  codegen::Sca Coordinate(codegen::CodeBuilder& b, codegen::Sca at, int k,
                          int beyond) const;

  PhysicalArray table_;
  std::optional<RowIndex> linear_;  // of a 1-D table
  int64_t index_rows_ = 0;          // in a tile of the indices
  int64_t count_ = 0;
  bool marked_ = false, inside_ = false;  // as those of rows
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ELEMENT_INDEX_H_

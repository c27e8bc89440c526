// Writes finished results of a reduction, a row of 128 at a time, into its
// result array, or an element; packed types change their part of the words.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_RESULT_ROWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_RESULT_ROWS_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

class ResultRows {
 public:
  ResultRows(const PhysicalArray& array, codegen::CodeBuilder& b)
      : array_(array), b_(b) {}

  // Stores 128 results, the same on every sublane, as a row of the result at
  // `to`: column tile `row` + part of the row that `index` names, or of a dense
  // 1-D result; `beyond`: bytes from `to` to the plane.
  void Place(codegen::Vec v, codegen::Sca to, codegen::Sca row, int part,
             codegen::Sca index, int64_t beyond);
  // Stores the element `index` of a dense 1-D result, the same on every lane.
  void PlaceElement(codegen::Vec v, codegen::Sca to, codegen::Sca index);
  // The words where `mask` is set; `element_row` says which part of packed
  // words it is.
  void Store(codegen::Vec v, codegen::Sca base, int64_t offset,
             codegen::Sca element_row, codegen::Mask mask);

 private:
  const PhysicalArray& array_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_RESULT_ROWS_H_

// How the source rows of a piece of a register are loaded.
//
//   const LoadForm form = LoadForm::Of(piece);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LOAD_FORM_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LOAD_FORM_H_

#include <cstdint>

#include "hlo_backend/lowering/movement/row_plan.h"

namespace ptxla::lowering {

// As one load, if their distances allow it (kRows: one by one).
struct LoadForm {
  enum class Kind { kContiguous, kStrided, kRows } kind = Kind::kRows;
  int64_t first = 0;   // word row
  int64_t stride = 0;  // rows between groups
  int group = 1;       // rows that follow one another

  static LoadForm Of(const RowPiece& piece);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LOAD_FORM_H_

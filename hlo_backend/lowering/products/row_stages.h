// How the rows of a product are finished, stage by stage.
//
// Values of stage s need reduces of stage s - 1 along their row. The stream of
// the product makes stage 0; then the block is passed over once for each stage:
// pass 0 reduces values of stage 0, pass s computes those of stage s. What a
// later pass reads again is kept, in f32 tiles of scratch: a plane for each
// value, given away when its last reader has run.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_STAGES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_STAGES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "hlo_backend/lowering/fusion/expression.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

struct RowStages {
  // By node: plane that keeps it, or -1.
  std::vector<int> plane;
  int planes = 0;
  // The one of stage 0 that the stream keeps: the node that all others read, or
  // the product itself.
  int from_stream = -1;
  // Reduces, and those by stage (numbers in `reductions`).
  std::vector<Reduction> reductions;
  std::vector<std::vector<int>> reduced_in;
  // Number of a reduce by root of the expression.
  std::vector<int> reduction_of_root;
  // Nodes that the stage keeps, and roots that it stores, by stage.
  std::vector<std::vector<int>> kept_in, stored_in;

  // Of reduces along dimension `along` of the expression's space: its last for
  // rows, the one before for the columns of members (`row` and `plane` read the
  // other way then). Unimplemented: a reduce over anything else, or of another
  // type than f32.
  static absl::StatusOr<RowStages> Of(const hlo::Instruction& fusion,
                                      const Expression& e, int along);
};

// Cycles that the passes take for one register of the block, by the slots of
// `model`: what `code` computes behind the stream and `combinations` of what
// reduces keep, loads of `leaves` and of what is kept, and stores.
double CyclesOfPasses(const RowStages& stages,
                      const std::vector<codegen::VInstr>& code,
                      int64_t combinations, int leaves, int64_t results,
                      const isa::MachineModel& model);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_STAGES_H_

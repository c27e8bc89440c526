#include "hlo_backend/lowering/movement/matrix_step.h"

#include <algorithm>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/cheapest_cuts.h"
#include "hlo_backend/lowering/movement/transpose_unit.h"

namespace ptxla::lowering {

MatrixStep StepOfMatrix(const KernelContext& context, int64_t down,
                        int64_t across, int pack) {
  const int64_t rows = std::min<int64_t>(across, pack);
  const int64_t columns = std::min<int64_t>(down, pack);
  const int64_t tiles = kTransposeBlock * rows * columns;
  const int64_t most = std::max<int64_t>(
      1, chips::WholePolicy(context.chip, "transpose_tiles") / tiles);
  const double step = chips::CompilerPolicy(context.chip, "step_tiles") /
                      static_cast<double>(tiles);
  // The result's rows are the operand's columns.
  const int64_t groups_across = CeilOfRatio(across, rows);
  const int64_t groups_down = CeilOfRatio(down, columns);
  const auto cuts = CheapestCuts({groups_across, groups_down},
                                 {most, most, step, 0, context.model.cores});
  return {RoundUpTo<int64_t>(CeilOfRatio(groups_down, cuts[1]) * columns, pack),
          RoundUpTo<int64_t>(CeilOfRatio(groups_across, cuts[0]) * rows, pack)};
}

}  // namespace ptxla::lowering

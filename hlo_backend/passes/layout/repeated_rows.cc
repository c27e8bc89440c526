#include "hlo_backend/passes/layout/repeated_rows.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/reshape_groups.h"
#include "hlo_backend/passes/layout/reshape_of_rows.h"

namespace ptxla::hlo {
namespace {

// For each dimension of the broadcast the one of `y`, the array in front of the
// transpose, that it is or lies beside: of a new one the next that is joined
// with it, or else the one before.
std::vector<int64_t> Neighbours(const Instruction& reshape) {
  const Instruction& broadcast = *reshape.operand(0);
  const Instruction& transpose = *broadcast.operand(0);
  std::vector<int64_t> of(broadcast.shape().rank(), -1);
  for (int k = 0; k < transpose.shape().rank(); ++k) {
    of[broadcast.dimensions()[k]] = transpose.dimensions()[k];
  }
  for (const ReshapeGroup& g :
       ReshapeGroups(broadcast.shape().dims(), reshape.shape().dims())) {
    int64_t next = -1;
    for (size_t d = g.from_end; d-- > g.from;) {
      if (of[d] < 0) of[d] = next;
      next = of[d];
    }
    for (size_t d = g.from + 1; d < g.from_end; ++d) {
      if (of[d] < 0) of[d] = of[d - 1];
    }
  }
  return of;
}

}  // namespace

std::optional<RepeatedRows> RepeatRows(const Instruction& reshape) {
  const Instruction& broadcast = *reshape.operand(0);
  if (reshape.opcode() != Opcode::kReshape ||
      broadcast.opcode() != Opcode::kBroadcast || broadcast.user_count() > 1 ||
      broadcast.shape().ElementCount() == 0 ||
      broadcast.operand(0)->opcode() != Opcode::kTranspose) {
    return {};
  }
  const Shape& to = broadcast.shape();
  const std::vector<int64_t> beside = Neighbours(reshape);
  // In the order of `y`; each new dimension where it is joined.
  DimVector places(to.rank());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](int64_t a, int64_t b) { return beside[a] < beside[b]; });
  const auto rows =
      ReshapeOfRows(Inverse(places), to.dims(), reshape.shape().dims());
  if (!rows.has_value() || !IsIdentityMapping(rows->inner)) return {};
  RepeatedRows r;
  r.sizes = Permuted(to.dims(), places);
  const Instruction& transpose = *broadcast.operand(0);
  const DimVector back = Inverse(places);
  r.at.resize(transpose.shape().rank());
  for (int k = 0; k < transpose.shape().rank(); ++k) {
    r.at[transpose.dimensions()[k]] = back[broadcast.dimensions()[k]];
  }
  r.dims = rows->dims;
  r.order = rows->order;
  return std::is_sorted(r.at.begin(), r.at.end()) ? std::optional(r)
                                                  : std::nullopt;
}

}  // namespace ptxla::hlo

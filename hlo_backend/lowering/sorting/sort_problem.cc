#include "hlo_backend/lowering/sorting/sort_problem.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/sort_config.h"

namespace ptxla::lowering {
namespace {

absl::Status Refuse(const hlo::Instruction& i, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("%", i.name(), ": a sort ", what));
}

}  // namespace

int SortProblem::row_bits() const {
  return CeilLog2(form == Form::kRows ? padded : rows);
}
int SortProblem::lane_bits() const {
  return form == Form::kRows ? 0 : CeilLog2(lanes);
}

absl::StatusOr<SortProblem> SortProblem::Of(const hlo::Instruction& sort) {
  SortProblem p;
  p.sort = &sort;
  p.operands = sort.operand_count();
  for (int k = 0; k < p.operands; ++k) {
    const hlo::Shape& shape = sort.operand(k)->shape();
    if (hlo::BitWidth(shape.type()) != 32 || hlo::IsComplex(shape.type())) {
      return Refuse(sort, "of other than 32-bit values");
    }
    if (shape.layout().minor_to_major !=
            sort.operand(0)->shape().layout().minor_to_major ||
        shape.layout().tiles != sort.operand(0)->shape().layout().tiles) {
      return Refuse(sort, "of arrays in different layouts");
    }
  }
  ASSIGN_OR_RETURN(p.array, PhysicalArray::Of(sort.operand(0)->shape()));
  const int64_t dimension = sort.attrs<hlo::SortAttrs>().dimension;
  const int rank = p.array.rank();
  p.length = sort.operand(0)->shape().dim(static_cast<int>(dimension));
  if (p.array.dims[rank - 1] == dimension) {
    p.form = Form::kLanes;
    p.padded = int64_t{1} << CeilLog2(std::max<int64_t>(p.length, 128));
    p.lanes = std::min<int64_t>(128, p.padded / 128);
    p.rows = p.padded / p.lanes;
  } else if (rank >= 2 && p.array.dims[rank - 2] == dimension) {
    p.form = Form::kRows;
    p.padded = int64_t{1} << CeilLog2(std::max<int64_t>(p.length, 8));
  } else {
    return Refuse(sort, "along neither of the two minor dimensions");
  }
  const bool stable = sort.attrs<hlo::SortAttrs>().is_stable;
  p.position = hlo::SortTieOperand(sort);
  if (p.position < 0 && (stable || p.pads())) {
    p.index = true;
    p.position = p.operands;
  }
  if (stable) p.tie = p.position;
  p.key = SortKey::Of(sort);
  return p;
}

}  // namespace ptxla::lowering

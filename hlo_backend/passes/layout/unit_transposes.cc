#include "hlo_backend/passes/layout/unit_transposes.h"

#include <algorithm>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

bool KeepsLanes(const Instruction& transpose) {
  return transpose.dimensions().back() == transpose.shape().rank() - 1;
}

bool IsColumn(const Instruction& i) {
  return KeepsLanes(*i.operand(0)) &&
         std::any_of(i.users().begin(), i.users().end(),
                     [&](const Instruction* u) {
                       return u->opcode() == Opcode::kConcatenate &&
                              u->dimensions()[0] == i.shape().rank() - 1;
                     });
}

}  // namespace

std::optional<DimVector> AsTranspose(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape) return {};
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  if (from.rank() != to.rank() || from.SameDims(to) ||
      !SameUpToDegenerateDims(from, to)) {
    return {};
  }
  const DimVector kept = NonUnitPositions(from.dims());
  const DimVector units = Others(from.rank(), kept);
  DimVector permutation;
  size_t next_kept = 0, next_unit = 0;
  for (const int64_t size : to.dims()) {
    permutation.push_back(size == 1 ? units[next_unit++] : kept[next_kept++]);
  }
  return permutation;
}

std::optional<UnitsInFront> WithUnitsInFront(const Instruction& i) {
  const Instruction& x = *i.operand(0);
  if (i.opcode() != Opcode::kReshape || x.opcode() != Opcode::kTranspose ||
      HasUnitDims(x.shape()) || IsColumn(i) ||
      !SameUpToDegenerateDims(x.shape(), i.shape())) {
    return {};
  }
  const DimVector kept = NonUnitPositions(i.shape().dims());
  const DimVector units = Others(i.shape().rank(), kept);
  const auto added = static_cast<int64_t>(units.size());
  UnitsInFront made = {DimVector(units.size(), 1), DimVector(i.shape().rank())};
  const DimVector& dims = x.operand(0)->shape().dims();
  made.dims.insert(made.dims.end(), dims.begin(), dims.end());
  for (int64_t k = 0; k < added; ++k) made.order[units[k]] = k;
  for (size_t k = 0; k < kept.size(); ++k) {
    made.order[kept[k]] = added + x.dimensions()[k];
  }
  return made;
}

std::optional<UnitsInFront> WithoutUnits(const Instruction& i) {
  const Instruction& x = *i.operand(0);
  if (i.opcode() != Opcode::kReshape || x.opcode() != Opcode::kTranspose ||
      HasUnitDims(i.shape()) || !SameUpToDegenerateDims(x.shape(), i.shape())) {
    return {};
  }
  const Shape& y = x.operand(0)->shape();
  DimVector number(y.rank(), -1);  // among those that are kept
  UnitsInFront made;
  for (int d = 0; d < y.rank(); ++d) {
    if (y.dim(d) == 1) continue;
    number[d] = static_cast<int64_t>(made.dims.size());
    made.dims.push_back(y.dim(d));
  }
  for (const int64_t d : x.dimensions()) {
    if (number[d] >= 0) made.order.push_back(number[d]);
  }
  return made;
}

}  // namespace ptxla::hlo

#include "hlo_backend/analysis/contracted_planes.h"

#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {
namespace {

int64_t MajorDimension(const Shape& shape) {
  return shape.has_layout() ? shape.layout().minor_to_major.back() : 0;
}

}  // namespace

std::optional<int> MatrixContraction(const Instruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  if (!attrs.lhs_batch.empty() || attrs.lhs_contracting.size() != 2 ||
      dot.operand(0)->shape().rank() != 3 ||
      dot.operand(1)->shape().rank() != 3) {
    return std::nullopt;
  }
  const int64_t lhs = MajorDimension(dot.operand(0)->shape());
  const int64_t rhs = MajorDimension(dot.operand(1)->shape());
  for (int planes = 0; planes < 2; ++planes) {
    if (attrs.lhs_contracting[planes] == lhs &&
        attrs.rhs_contracting[planes] == rhs) {
      return 1 - planes;
    }
  }
  return std::nullopt;
}

}  // namespace ptxla::hlo

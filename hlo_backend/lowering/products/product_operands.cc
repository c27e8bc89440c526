#include "hlo_backend/lowering/products/product_operands.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/member_rows.h"

namespace ptxla::lowering {

absl::StatusOr<MatrixView> MatrixView::OfOperand(const hlo::Shape& shape,
                                                 int64_t batch) {
  const auto order = hlo::MembersInRows(shape, batch);
  if (!order) return Of(shape);
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape));
  MatrixView v;
  v.type = a.type;
  v.members = a.rows;
  v.planes = a.rows * a.planes / shape.dim(order->rows);
  v.rows = shape.dim(order->rows);
  v.columns = a.columns;
  v.tile_bytes = a.tile_bytes();
  v.member_stride = a.row_stride();
  // Rows outside of the other batch dimensions, or inside.
  const bool outside = a.dims[0] == order->rows;
  v.row_stride = a.plane_stride() * (outside ? v.planes / v.members : 1);
  v.plane_stride = a.plane_stride() * (outside ? 1 : v.rows);
  v.resident = shape.layout().memory_space == hlo::kMemoryVmem;
  if (v.resident && v.rows % hlo::kMemberRowTile != 0) {
    return absl::UnimplementedError(absl::StrCat(
        shape.ToString(), " in VMEM: rows of members beyond its end"));
  }
  return v;
}

absl::StatusOr<MatrixView> MatrixView::Of(const hlo::Shape& shape) {
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape, /*fours=*/true));
  MatrixView v;
  v.type = a.type;
  v.planes = a.planes;
  v.rows = a.rows;
  v.columns = a.columns;
  v.tile_bytes = a.tile_bytes();
  v.row_stride = a.row_stride();
  v.plane_stride = a.plane_stride();
  v.resident =
      shape.has_layout() && shape.layout().memory_space == hlo::kMemoryVmem;
  // Of 8- and 4-bit types a lone tile may have fewer rows than a register.
  v.tile_rows = a.bits > 8 ? 8 : a.tiles_down == 1 ? 256 / a.bits : a.tile_rows;
  if (a.tile_rows != v.tile_rows && a.tiles_down > 1) {
    return absl::UnimplementedError(
        absl::StrCat("tiles of ", a.tile_rows, " rows in ", shape.ToString()));
  }
  return v;
}

bool MatrixView::FoldPlanes() {
  if (planes == 1) return true;
  if (rows % tile_rows != 0) return false;
  rows *= planes;
  planes = 1;
  plane_stride *= rows;
  return true;
}

}  // namespace ptxla::lowering

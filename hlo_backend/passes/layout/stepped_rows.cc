#include "hlo_backend/passes/layout/stepped_rows.h"

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

bool MoverStepsOverRows(const Shape& few, const Shape& many, int64_t start,
                        int64_t step, const PassContext& context) {
  // Two slots of what goes in and out, in half of VMEM; registers of a step's
  // code, as the kernel has them (row_blocks.cc). ASSUMED: a policy of this
  // compiler, not libtpu's.
  constexpr int64_t kSlots = 2, kMostRegisters = 4096, kRegisterBytes = 4096;
  if (context.chip == nullptr) return false;
  const int rank = few.rank(), generation = GenerationOf(context);
  const auto plane = [&](const Shape& s) {
    return TpuBytes(Shape::Array(s.type(), {s.dim(rank - 2), s.dim(rank - 1)}),
                    generation);
  };
  const int64_t unit = kTileRows * 32 / BitWidth(few.type());
  const auto tiles = [&](const Shape& s) {
    return CeilOfRatio<int64_t>(s.dim(rank - 2), unit);
  };
  const bool is_plane =
      few.ElementCount() == few.dim(rank - 2) * few.dim(rank - 1);
  const bool cuts_planes = start < step * kTileRows &&
                           (is_plane || tiles(many) == step * tiles(few));
  const int64_t parts = cuts_planes ? tiles(few) : 1;
  const auto budget =
      static_cast<int64_t>(context.chip->vmem().scoped_limit.count()) / 2;
  return kSlots * (plane(few) + plane(many)) <= parts * budget &&
         plane(many) <= parts * kMostRegisters * kRegisterBytes;
}

}  // namespace ptxla::hlo

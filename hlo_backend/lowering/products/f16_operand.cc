#include "hlo_backend/lowering/products/f16_operand.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Tiles side by side whose conversions are under way at once.
constexpr int64_t kTilesAtOnce = 4;

}  // namespace

void EmitF16Operand(const BlockPlace& from, const BlockPlace& to, int64_t batch,
                    int64_t rows, int64_t columns, CodeBuilder* b) {
  const int64_t row_blocks = CeilOfRatio<int64_t>(rows, 16);
  const int64_t tiles = CeilOfRatio<int64_t>(columns, 128);
  const auto source_step = static_cast<int32_t>(2 * from.row_pitch);
  const auto target_step = static_cast<int32_t>(2 * to.row_pitch);
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t tile = 0; tile < tiles; tile += kTilesAtOnce) {
      const Sca block = b->BeginLoop(row_blocks, 1);
      b->NewBlock("convert f16");
      const Sca source = b->SAdd(
          b->SAddImm(from.base,
                     static_cast<int32_t>(from.Offset(member, 0, tile * 128))),
          b->SMulImm(block, source_step));
      const Sca target = b->SAdd(
          b->SAddImm(to.base,
                     static_cast<int32_t>(to.Offset(member, 0, tile * 128))),
          b->SMulImm(block, target_step));
      const int64_t end = std::min(tiles, tile + kTilesAtOnce);
      for (int64_t t = tile; t < end; ++t) {
        const auto beyond = [&](const BlockPlace& place) {
          return static_cast<int32_t>((t - tile) * place.lane_pitch);
        };
        const Vec packed =
            b->LoadStrided(from.space, source, beyond(from),
                           static_cast<int32_t>(from.row_pitch), 4);
        const Vec low = UnpackF16(*b, packed, 0);
        const Vec high = UnpackF16(*b, packed, 1);
        b->StoreStrided(to.space, target, beyond(to),
                        static_cast<int32_t>(to.row_pitch), 4,
                        b->Binary(Opcode::kVpackCBf16, low, high));
      }
      b->EndLoop();
    }
  }
}

}  // namespace ptxla::lowering

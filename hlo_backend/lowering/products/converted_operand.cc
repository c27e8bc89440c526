#include "hlo_backend/lowering/products/converted_operand.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/products/operand_rows.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;

// Registers of 16 rows whose conversions are under way at once.
constexpr int64_t kAtOnce = 4;

}  // namespace

void EmitConvertedOperand(const BlockPlace& from, const BlockPlace& to,
                          int64_t batch, int64_t rows, int64_t columns,
                          CodeBuilder* b) {
  b->BeginScope();
  OperandRows loader(b, {from.type});
  // Rows of one tile of narrow rows go together.
  const int64_t unit = std::max<int64_t>(16, from.tile_rows);
  const int64_t pieces = unit / 16;
  const int64_t row_blocks = CeilOfRatio<int64_t>(rows, unit);
  const int64_t tiles = CeilOfRatio<int64_t>(columns, 128);
  const int64_t tiles_at_once = std::max<int64_t>(1, kAtOnce / pieces);
  const auto source_step =
      static_cast<int32_t>(unit / from.tile_rows * from.row_pitch);
  const auto target_step = static_cast<int32_t>(unit / 8 * to.row_pitch);
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t tile = 0; tile < tiles; tile += tiles_at_once) {
      const Sca block = b->BeginLoop(row_blocks, 1);
      b->NewBlock("convert operand");
      const Sca source = b->SAdd(from.base, b->SMulImm(block, source_step));
      const Sca target = b->SAdd(to.base, b->SMulImm(block, target_step));
      const int64_t end = std::min(tiles, tile + tiles_at_once);
      for (int64_t t = tile; t < end; ++t) {
        for (int64_t row = 0; row < unit; row += 16) {
          b->StoreStrided(to.space, target,
                          static_cast<int32_t>(to.Offset(member, row, t * 128)),
                          static_cast<int32_t>(to.row_pitch), 4,
                          loader.Bf16(from, source, member, row, t * 128));
        }
      }
      b->EndLoop();
    }
  }
  b->EndScope();
}

}  // namespace ptxla::lowering

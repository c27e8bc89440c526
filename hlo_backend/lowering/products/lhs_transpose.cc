#include "hlo_backend/lowering/products/lhs_transpose.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// 128 rows of K at 128 lanes of M, as registers of 16 packed bf16 rows.
std::vector<Vec> LoadPacked(CodeBuilder& b, const BlockPlace& from, Sca base,
                            int32_t offset) {
  std::vector<Vec> rows;
  const auto pitch = static_cast<int32_t>(from.row_pitch);
  for (int32_t row = 0; row < 16; row += 2) {
    if (from.type == hlo::PrimitiveType::kF32) {
      const Vec low = b.Load(from.space, base, offset + row * pitch);
      const Vec high = b.Load(from.space, base, offset + (row + 1) * pitch);
      rows.push_back(b.Binary(Opcode::kVpackCBf16, low, high));
      continue;
    }
    const Vec two =
        b.LoadStrided(from.space, base, offset + row * pitch, pitch, 4);
    if (from.type == hlo::PrimitiveType::kF16) {
      const Vec low = UnpackF16(b, two, 0);
      rows.push_back(b.Binary(Opcode::kVpackCBf16, low, UnpackF16(b, two, 1)));
    } else {
      rows.push_back(two);
    }
  }
  return rows;
}

// The same as registers of 8 f32 rows.
std::vector<Vec> LoadF32(CodeBuilder& b, NarrowTiles& narrow,
                         const BlockPlace& from, Sca base, int32_t offset) {
  std::vector<Vec> rows;
  const auto pitch = static_cast<int32_t>(from.row_pitch);
  for (int32_t row = 0; row < 16; ++row) {
    if (from.type == hlo::PrimitiveType::kF32) {
      rows.push_back(b.Load(from.space, base, offset + row * pitch));
    } else if (NarrowTiles::Needed(b.model())) {
      rows.push_back(narrow.Load(codegen::NarrowType::kBf16, from.space, base,
                                 offset + row * pitch));
    } else if (row % 2 == 0) {
      const Vec two =
          b.LoadStrided(from.space, base, offset + row * pitch, pitch, 4);
      rows.push_back(b.Unary(Opcode::kVunpackCLBf16, two));
      rows.push_back(b.Unary(Opcode::kVunpackCHBf16, two));
    }
  }
  return rows;
}

// `from_offset`, `to_offset`: bytes beyond the two addresses.
void TransposeTile(CodeBuilder& b, NarrowTiles& narrow, const BlockPlace& from,
                   Sca source, int32_t from_offset, const BlockPlace& to,
                   Sca target, int32_t to_offset, int64_t m_rows, bool bf16) {
  const auto pitch = static_cast<int32_t>(to.row_pitch);
  const int per_result = bf16 ? 16 : 8;
  const auto results =
      static_cast<int>(CeilOfRatio<int64_t>(m_rows, per_result));
  const std::vector<Vec> out =
      b.Transpose(bf16 ? LoadPacked(b, from, source, from_offset)
                       : LoadF32(b, narrow, from, source, from_offset),
                  results, bf16);
  for (int r = 0; r < results; ++r) {
    if (bf16) {
      b.StoreStrided(to.space, target, to_offset + 2 * r * pitch, pitch, 4,
                     out[r]);
    } else {
      b.Store(to.space, target, to_offset + r * pitch, out[r]);
    }
  }
}

}  // namespace

void EmitLhsTranspose(const BlockPlace& from, const BlockPlace& to,
                      int64_t batch, int64_t m, int64_t k,
                      const ArrayShape& arrays, CodeBuilder* b) {
  b->BeginScope();
  NarrowTiles narrow(
      b, from.type == hlo::PrimitiveType::kBf16 ? NarrowTiles::kLoad16 : 0);
  const int64_t k_tiles = CeilOfRatio<int64_t>(k, 128);
  // Several tiles for each XLU follow one another in a block: filling and
  // draining it is paid once.
  const int64_t in_block = kTransposesPerUnit * b->model().xlus;
  const auto source_step = static_cast<int32_t>(16 * from.row_pitch);
  const auto target_step = static_cast<int32_t>(to.lane_pitch);
  int64_t open = 0;  // tiles in the block
  const auto emit = [&](Sca source, Sca target, int64_t member, int64_t col,
                        int64_t tile) {
    TransposeTile(
        *b, narrow, from, source,
        static_cast<int32_t>(from.Offset(member, 0, col) + tile * source_step),
        to, target,
        static_cast<int32_t>(to.Offset(member, col, 0) + tile * target_step),
        std::min<int64_t>(128, m - col), arrays.bf16);
  };
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t col = 0; col < m; col += 128) {
      int64_t done = 0;
      if (k_tiles >= 2 * in_block) {
        const Sca first =
            b->BeginLoop(k_tiles / in_block, static_cast<int32_t>(in_block));
        b->NewBlock("transpose lhs");
        const Sca source = b->SAdd(from.base, b->SMulImm(first, source_step));
        const Sca target = b->SAdd(to.base, b->SMulImm(first, target_step));
        for (int64_t t = 0; t < in_block; ++t) {
          emit(source, target, member, col, t);
        }
        b->EndLoop();
        done = k_tiles / in_block * in_block;
        open = 0;
      }
      for (int64_t t = done; t < k_tiles; ++t) {
        if (open == 0) b->NewBlock("transpose lhs");
        emit(from.base, to.base, member, col, t);
        open = (open + 1) % in_block;
      }
    }
  }
  b->EndScope();
}

}  // namespace ptxla::lowering

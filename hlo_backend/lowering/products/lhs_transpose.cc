#include "hlo_backend/lowering/products/lhs_transpose.h"

#include <algorithm>
#include <vector>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
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
    } else {
      rows.push_back(
          b.LoadStrided(from.space, base, offset + row * pitch, pitch, 4));
    }
  }
  return rows;
}

// The same as registers of 8 f32 rows.
std::vector<Vec> LoadF32(CodeBuilder& b, const BlockPlace& from, Sca base,
                         int32_t offset) {
  std::vector<Vec> rows;
  const auto pitch = static_cast<int32_t>(from.row_pitch);
  for (int32_t row = 0; row < 16; ++row) {
    if (from.type == hlo::PrimitiveType::kF32) {
      rows.push_back(b.Load(from.space, base, offset + row * pitch));
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
void TransposeTile(CodeBuilder& b, const BlockPlace& from, Sca source,
                   int32_t from_offset, const BlockPlace& to, Sca target,
                   int32_t to_offset, int64_t m_rows, bool bf16) {
  const auto pitch = static_cast<int32_t>(to.row_pitch);
  const int per_result = bf16 ? 16 : 8;
  const auto results =
      static_cast<int>(CeilOfRatio<int64_t>(m_rows, per_result));
  const std::vector<Vec> out =
      b.Transpose(bf16 ? LoadPacked(b, from, source, from_offset)
                       : LoadF32(b, from, source, from_offset),
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
  const int64_t k_tiles = CeilOfRatio<int64_t>(k, 128);
  // Two tiles in flight for each XLU: one enters while the other comes out.
  const int64_t unroll = std::min<int64_t>(k_tiles, 2 * b->model().xlus);
  const auto source_step = static_cast<int32_t>(16 * from.row_pitch);
  const auto target_step = static_cast<int32_t>(to.lane_pitch);
  const auto emit = [&](int64_t member, int64_t col, Sca first,
                        int64_t first_tile, int64_t tiles) {
    b->NewBlock("transpose lhs");
    const auto from_offset = static_cast<int32_t>(from.Offset(member, 0, col) +
                                                  first_tile * source_step);
    const auto to_offset = static_cast<int32_t>(to.Offset(member, col, 0) +
                                                first_tile * target_step);
    Sca source = b->SAddImm(from.base, from_offset);
    Sca target = b->SAddImm(to.base, to_offset);
    if (first.valid()) {
      source = b->SAdd(source, b->SMulImm(first, source_step));
      target = b->SAdd(target, b->SMulImm(first, target_step));
    }
    for (int64_t t = 0; t < tiles; ++t) {
      TransposeTile(*b, from, source, static_cast<int32_t>(t * source_step), to,
                    target, static_cast<int32_t>(t * target_step),
                    std::min<int64_t>(128, m - col), arrays.bf16);
    }
  };
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t col = 0; col < m; col += 128) {
      if (k_tiles >= 2 * unroll) {
        const Sca first =
            b->BeginLoop(k_tiles / unroll, static_cast<int32_t>(unroll));
        emit(member, col, first, 0, unroll);
        b->EndLoop();
      } else {
        emit(member, col, Sca(), 0, unroll);
      }
      const int64_t done = k_tiles / unroll * unroll;
      for (int64_t t = done; t < k_tiles; t += unroll) {
        emit(member, col, Sca(), t, std::min(unroll, k_tiles - t));
      }
    }
  }
}

}  // namespace ptxla::lowering

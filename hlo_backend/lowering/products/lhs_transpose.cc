#include "hlo_backend/lowering/products/lhs_transpose.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/units.h"
#include "hlo_backend/lowering/products/operand_rows.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kRowTiles = 16;  // in 128 rows

// 128 rows of K from `row` on, of which `rows` exist, at 128 lanes of M.
std::vector<Vec> ComputeRows(CodeBuilder& b, ComputedOperand& from,
                             int64_t member, int64_t row, int64_t rows,
                             int64_t col, bool bf16) {
  std::vector<Vec> regs;
  for (int64_t r = 0; r < 128; r += 16) {
    std::vector<Vec> tiles = {b.Imm(0), b.Imm(0)};
    if (r < rows) tiles = from.Tiles(member, row + r, col);
    if (bf16) {
      regs.push_back(r < rows
                         ? b.Binary(Opcode::kVpackCBf16, tiles[0], tiles[1])
                         : tiles[0]);
    } else {
      regs.insert(regs.end(), tiles.begin(), tiles.end());
    }
  }
  return regs;
}

// 128 rows of K from `row` on at 128 lanes of M: registers of 16 packed bf16
// rows, or of 8 f32 rows.
std::vector<Vec> LoadRows(OperandRows& rows, const BlockPlace& from, Sca base,
                          int64_t member, int64_t row, int64_t col, bool bf16) {
  std::vector<Vec> regs;
  for (int64_t r = row; r < row + 128; r += 16) {
    if (bf16) {
      regs.push_back(rows.Bf16(from, base, member, r, col));
    } else {
      for (const Vec x : rows.F32(from, base, member, r, col)) {
        regs.push_back(x);
      }
    }
  }
  return regs;
}

// The 128 rows of `in` become columns at `to_offset` bytes beyond `target`.
void TransposeTile(CodeBuilder& b, const std::vector<Vec>& in,
                   const BlockPlace& to, Sca target, int32_t to_offset,
                   int64_t m_rows, bool bf16) {
  const auto pitch = static_cast<int32_t>(to.row_pitch);
  const int per_result = bf16 ? 16 : 8;
  const auto results =
      static_cast<int>(CeilOfRatio<int64_t>(m_rows, per_result));
  const std::vector<Vec> out = b.Transpose(in, results, bf16);
  for (int r = 0; r < results; ++r) {
    if (bf16) {
      b.StoreStrided(to.space, target, to_offset + 2 * r * pitch, pitch, 4,
                     out[r]);
    } else {
      b.Store(to.space, target, to_offset + r * pitch, out[r]);
    }
  }
}

// So many of 128 rows that each block of code has the same rows of its planes.
int64_t TilesInBlock(const CodeBuilder& b, const RowPadding& padding) {
  const int64_t tiles = kTransposesPerUnit * b.model().xlus;
  if (!padding.exists()) return tiles;
  return RoundUpTo(tiles,
                   padding.period() / std::gcd(padding.period(), kRowTiles));
}

}  // namespace

void EmitLhsTranspose(const BlockPlace& from, const BlockPlace& to,
                      int64_t batch, int64_t m, int64_t k,
                      const RowPadding& padding, CodeBuilder* b) {
  b->BeginScope();
  OperandRows rows(b, {from.type});
  const bool bf16 = to.type == hlo::PrimitiveType::kBf16;
  const int64_t k_tiles = CeilOfRatio<int64_t>(k, 128);
  // Several tiles for each XLU follow one another in a block: filling and
  // draining it is paid once.
  const int64_t in_block = TilesInBlock(*b, padding);
  const auto source_step =
      static_cast<int32_t>(128 / from.tile_rows * from.row_pitch);
  const auto target_step = static_cast<int32_t>(to.lane_pitch);
  int64_t open = 0;  // tiles in the block
  const auto emit = [&](Sca source, Sca target, int64_t member, int64_t col,
                        int64_t tile) {
    std::vector<Vec> in =
        from.computed != nullptr
            ? ComputeRows(*b, *from.computed, member, 128 * tile,
                          k - 128 * tile, col, bf16)
            : LoadRows(rows, from, source, member, 128 * tile, col, bf16);
    padding.Clear(&in, kRowTiles * tile, b);
    TransposeTile(
        *b, in, to, target,
        static_cast<int32_t>(to.Offset(member, col, 0) + tile * target_step),
        std::min<int64_t>(128, m - col), bf16);
  };
  const int64_t whole = k / 128;
  const auto new_block = [&] {
    b->NewBlock("transpose lhs");
    if (from.computed != nullptr) from.computed->Forget();
  };
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t col = 0; col < m; col += 128) {
      int64_t done = 0;
      if (whole >= 2 * in_block) {
        const Sca first =
            b->BeginLoop(whole / in_block, static_cast<int32_t>(in_block));
        new_block();
        Sca source;
        if (from.computed != nullptr) {
          from.computed->BeginRows(first, 128);
        } else {
          source = b->SAdd(from.base, b->SMulImm(first, source_step));
        }
        const Sca target = b->SAdd(to.base, b->SMulImm(first, target_step));
        for (int64_t t = 0; t < in_block; ++t) {
          emit(source, target, member, col, t);
        }
        if (from.computed != nullptr) from.computed->EndRows();
        b->EndLoop();
        done = whole / in_block * in_block;
        open = 0;
      }
      for (int64_t t = done; t < k_tiles; ++t) {
        if (open == 0) new_block();
        emit(from.base, to.base, member, col, t);
        open = (open + 1) % in_block;
      }
    }
  }
  if (from.computed != nullptr) from.computed->Forget();
  b->EndScope();
}

}  // namespace ptxla::lowering

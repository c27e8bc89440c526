#include "hlo_backend/lowering/sorting/sort_io.h"

#include <algorithm>
#include <functional>

#include "base/units.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kUnroll = 16;
constexpr int64_t kTile = isa::kVregBytes, kRow = isa::kRowBytes;

// `body(from, to, k)` for all k < count, unrolled: k counts from the addresses,
// which move on by from_step and to_step each.
void Repeat(CodeBuilder& b, int64_t count, Sca from, int64_t from_step, Sca to,
            int64_t to_step,
            const std::function<void(Sca from, int64_t from_offset, Sca to,
                                     int64_t to_offset)>& body) {
  const int64_t loops = count / kUnroll;
  const auto some = [&](Sca f, Sca t, int64_t first, int64_t n) {
    for (int64_t k = first; k < first + n; ++k) {
      body(f, k * from_step, t, k * to_step);
    }
  };
  if (loops > 1) {
    b.BeginScope();
    b.NewBlock("start");
    const Sca f = b.GlobalSca(), t = b.GlobalSca();
    b.SMove(f, from);
    b.SMove(t, to);
    b.BeginLoop(loops, 1);
    b.NewBlock("move");
    some(f, t, 0, kUnroll);
    b.SBinaryImmTo(f, Opcode::kSadd, f,
                   static_cast<int32_t>(kUnroll * from_step));
    b.SBinaryImmTo(t, Opcode::kSadd, t,
                   static_cast<int32_t>(kUnroll * to_step));
    b.EndLoop();
    b.EndScope();
  }
  const int64_t done = loops > 1 ? loops * kUnroll : 0;
  if (count > done) {
    b.NewBlock("move");
    some(from, to, done, count - done);
  }
}

}  // namespace

void RowSortIo::Copy(int array, Sca window, const SortTiles& tiles, bool in) {
  const int64_t down = CeilOfRatio<int64_t>(problem_.length, 8);
  const int64_t start = array * layout_.array_bytes;
  for (int64_t column = 0; column < tiles.columns; ++column) {
    const int64_t at = column * tiles.tile_bytes;
    const int64_t slot = start + column * problem_.padded * kRow;
    Repeat(b_, down, window, tiles.row_stride, layout_.base, kTile,
           [&](Sca w, int64_t w_offset, Sca s, int64_t s_offset) {
             const int32_t outside = static_cast<int32_t>(at + w_offset);
             const int32_t inside = static_cast<int32_t>(slot + s_offset);
             if (in) {
               b_.Store(kSortScratch, s, inside, b_.Load(kSortIn, w, outside));
             } else {
               const Vec v = b_.Load(kSortScratch, s, inside);
               if (tiles.tile_rows == 8) {
                 b_.Store(kSortOut, w, outside, v);
               } else {
                 b_.StoreMasked(
                     kSortOut, w, outside, v,
                     b_.Range(0, 128, 0, static_cast<int>(tiles.tile_rows)));
               }
             }
           });
  }
}

void RowSortIo::Load(int array, Sca window, const SortTiles& tiles) {
  Copy(array, window, tiles, true);
}
void RowSortIo::Store(int array, Sca window, const SortTiles& tiles) {
  Copy(array, window, tiles, false);
}

void RowSortIo::Count(int array, int64_t from) {
  b_.BeginScope();
  b_.NewBlock("count");
  const Vec row = b_.GlobalVec();
  b_.BinaryTo(row, Opcode::kVor,
              b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7), b_.Imm(0));
  const int64_t sorts = layout_.rows / problem_.padded;
  const int64_t start = array * layout_.array_bytes;
  for (int64_t sort = 0; sort < sorts; ++sort) {
    const int64_t base = sort * problem_.padded;
    if (from % 8 != 0) {
      const int64_t tile = from / 8 * 8;
      b_.StoreMasked(
          kSortScratch, layout_.base,
          static_cast<int32_t>(start + (base + tile) * kRow),
          b_.BinaryImm(Opcode::kVaddS32, row, static_cast<uint32_t>(tile)),
          b_.Range(0, 128, static_cast<int>(from % 8), 8));
    }
    const int64_t first = CeilOfRatio<int64_t>(from, 8);
    const int64_t count = problem_.padded / 8 - first;
    const int64_t together = std::min(kUnroll, count);
    const int64_t loops = together > 0 ? count / together : 0;
    const auto some = [&](Sca at, Vec base_row, int64_t tile, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        b_.Store(kSortScratch, at,
                 static_cast<int32_t>(start + (base + (tile + k) * 8) * kRow),
                 b_.BinaryImm(Opcode::kVaddS32, base_row,
                              static_cast<uint32_t>((tile + k) * 8)));
      }
    };
    if (loops > 1) {
      const Sca at = b_.BeginLoop(loops, static_cast<int32_t>(together * 8));
      b_.NewBlock("count");
      some(b_.SAdd(layout_.base, b_.SMulImm(at, static_cast<int32_t>(kRow))),
           b_.Binary(Opcode::kVaddS32, row, b_.Splat(at)), first, together);
      b_.EndLoop();
      b_.NewBlock("count");
    }
    const int64_t done = loops > 1 ? loops * together : 0;
    if (count > done) {
      some(layout_.base, row, first + done, count - done);
    }
  }
  b_.EndScope();
}

void LaneSortIo::Load(int array, Sca window, int64_t chunk_stride) {
  const Sca base = layout_.base;
  const int64_t start = array * layout_.array_bytes;
  const int64_t groups = chunks() / 8, rest = chunks() % 8;
  Repeat(b_, groups, window, 8 * chunk_stride, base, kTile,
         [&](Sca w, int64_t w_offset, Sca s, int64_t s_offset) {
           const int32_t from = static_cast<int32_t>(w_offset);
           const Vec v =
               chunk_stride == kRow
                   ? b_.Load(kSortIn, w, from)
                   : b_.LoadStrided(kSortIn, w, from,
                                    static_cast<int32_t>(chunk_stride), 1);
           b_.Store(kSortScratch, s, static_cast<int32_t>(start + s_offset), v);
         });
  if (rest > 0) {
    b_.NewBlock("last chunks");
    Vec v;
    for (int64_t k = 0; k < rest; ++k) {
      const Vec row =
          b_.LoadRow(kSortIn, window,
                     static_cast<int32_t>((groups * 8 + k) * chunk_stride));
      v = k == 0 ? row
                 : b_.Select(b_.Range(0, 128, static_cast<int>(k), 8), row, v);
    }
    b_.Store(kSortScratch, base, static_cast<int32_t>(start + groups * kTile),
             v);
  }
  if (!whole()) Transposed(array, true);
}

void LaneSortIo::Store(int array, Sca window, int64_t chunk_stride) {
  if (!NeedsStaging(problem_)) {
    Spread(array, kSortOut, window, 0, chunk_stride);
    return;
  }
  Transposed(array, false);
  const int64_t groups = chunks() / 8, rest = chunks() % 8;
  const auto store = [&](Sca w, int64_t offset, Vec v, int64_t n) {
    const int32_t at = static_cast<int32_t>(offset);
    const int32_t stride = static_cast<int32_t>(chunk_stride);
    if (n < 8) {
      b_.StoreStridedMasked(kSortOut, w, at, stride, 1, v,
                            b_.Range(0, 128, 0, static_cast<int>(n)));
    } else if (chunk_stride == kRow) {
      b_.Store(kSortOut, w, at, v);
    } else {
      b_.StoreStrided(kSortOut, w, at, stride, 1, v);
    }
  };
  const int64_t staged = Staging();
  Repeat(
      b_, groups, window, 8 * chunk_stride, layout_.base, kTile,
      [&](Sca w, int64_t w_offset, Sca s, int64_t s_offset) {
        store(w, w_offset,
              b_.Load(kSortScratch, s, static_cast<int32_t>(staged + s_offset)),
              8);
      });
  if (rest > 0) {
    b_.NewBlock("last chunks");
    store(window, groups * 8 * chunk_stride,
          b_.Load(kSortScratch, layout_.base,
                  static_cast<int32_t>(staged + groups * kTile)),
          rest);
  }
}

void LaneSortIo::Stage(int array, int64_t staging) {
  Spread(array, kSortScratch, layout_.base, staging, kRow);
}

// Blocks of 128 rows: of scratch to chunks in staging, or, with few lanes,
// chunks in scratch to rows there.
void LaneSortIo::Transposed(int array, bool in) {
  const Sca base = layout_.base;
  const int64_t start = array * layout_.array_bytes, staged = Staging();
  const int64_t lane_tiles = CeilOfRatio<int64_t>(problem_.lanes, 8);
  const auto load = [&](Sca from, int64_t first, int64_t tiles) {
    std::vector<Vec> rows;
    for (int64_t k = first; k < first + tiles; ++k) {
      rows.push_back(
          b_.Load(kSortScratch, from, static_cast<int32_t>(start + k * kTile)));
    }
    return rows;
  };
  if (!whole()) {
    b_.NewBlock("transpose");
    const std::vector<Vec> out =
        b_.Transpose(load(base, 0, in ? lane_tiles : 16),
                     static_cast<int>(in ? 16 : lane_tiles));
    for (size_t k = 0; k < out.size(); ++k) {
      const int64_t to =
          (in ? start : staged) + static_cast<int64_t>(k) * kTile;
      b_.Store(kSortScratch, base, static_cast<int32_t>(to), out[k]);
    }
    return;
  }
  Spread(array, kSortScratch, base, staged, kRow);
}

// Lane g of row s is element g * rows + s: chunk g * blocks + s / 128.
void LaneSortIo::Spread(int array, int space, Sca chunks, int64_t offset,
                        int64_t chunk_stride) {
  const int64_t start = array * layout_.array_bytes;
  const int64_t blocks = problem_.rows / 128;
  b_.BeginScope();
  b_.NewBlock("start");
  const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
  b_.SMove(from, layout_.base);
  b_.SMove(to, chunks);
  const int64_t together =
      std::min<int64_t>(blocks, b_.model().xlus > 1 ? 2 : 1);
  if (blocks > together) b_.BeginLoop(blocks / together, 1);
  b_.NewBlock("transpose");
  for (int64_t u = 0; u < together; ++u) {
    std::vector<Vec> rows;
    for (int64_t k = 0; k < 16; ++k) {
      rows.push_back(
          b_.Load(kSortScratch, from,
                  static_cast<int32_t>(start + (u * 16 + k) * kTile)));
    }
    const std::vector<Vec> out = b_.Transpose(rows, 16);
    for (int64_t k = 0; k < 16; ++k) {
      b_.StoreStrided(
          space, to,
          static_cast<int32_t>(offset + (k * 8 * blocks + u) * chunk_stride),
          static_cast<int32_t>(blocks * chunk_stride), 1, out[k]);
    }
  }
  b_.SBinaryImmTo(from, Opcode::kSadd, from,
                  static_cast<int32_t>(together * 16 * kTile));
  b_.SBinaryImmTo(to, Opcode::kSadd, to,
                  static_cast<int32_t>(together * chunk_stride));
  if (blocks > together) b_.EndLoop();
  b_.EndScope();
}

// Where an element of the operand starts out, as Load() puts it there.
void LaneSortIo::Count(int array, int64_t from) {
  b_.BeginScope();
  b_.NewBlock("count");
  const Vec first = b_.GlobalVec();
  const Vec sequence = b_.LaneSequence();
  const Vec lane = b_.BinaryImm(Opcode::kVand, sequence, 127);
  const Vec sublane = b_.BinaryImm(Opcode::kVshrl, sequence, 7);
  // whole: row * 128 + lane, which is the sequence; else row + lane * 128.
  b_.BinaryTo(first, Opcode::kVor,
              whole() ? sequence : b_.BinaryImm(Opcode::kVshll, lane, 7),
              whole() ? b_.Imm(0) : sublane);
  const uint32_t step = whole() ? 1024 : 8;
  const int64_t tiles = layout_.rows / 8;
  const int64_t together = std::min(kUnroll, tiles);
  const auto some = [&](Sca at, Vec start, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      const Vec position = b_.BinaryImm(Opcode::kVaddS32, start,
                                        static_cast<uint32_t>(k) * step);
      const int32_t offset =
          static_cast<int32_t>(array * layout_.array_bytes + k * kTile);
      if (from == 0) {
        b_.Store(kSortScratch, at, offset, position);
      } else {
        b_.StoreMasked(kSortScratch, at, offset, position,
                       b_.CompareImm(Opcode::kVcmpGeS32, position,
                                     static_cast<uint32_t>(from)));
      }
    }
  };
  if (tiles > together) {
    const Sca at = b_.BeginLoop(
        tiles / together,
        static_cast<int32_t>(together * static_cast<int64_t>(step)));
    b_.NewBlock("count");
    const Sca bytes = b_.SMulImm(at, static_cast<int32_t>(kTile / step));
    some(b_.SAdd(layout_.base, bytes),
         b_.Binary(Opcode::kVaddS32, first, b_.Splat(at)), together);
    b_.EndLoop();
  } else {
    b_.NewBlock("count");
    some(layout_.base, first, tiles);
  }
  b_.EndScope();
}

}  // namespace ptxla::lowering

#include "hlo_backend/lowering/movement/reflow_rows.h"

#include <algorithm>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// Registers of one block of code where nothing is rotated.
constexpr int64_t kCopied = 32;

}  // namespace

void CopyLine(CodeBuilder* b, int source, Sca from, int target, Sca to,
              int64_t registers) {
  const auto copies = [&](Sca start, Sca end, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
      const auto offset = static_cast<int32_t>(k * isa::kVregBytes);
      b->Store(target, end, offset, b->Load(source, start, offset));
    }
  };
  const int64_t trips = registers / kCopied, done = trips * kCopied;
  if (trips > 0) {
    const int64_t bytes = kCopied * isa::kVregBytes;
    const Sca k = b->BeginLoop(trips, 1);
    b->NewBlock("copies");
    const Sca moved = b->SMulImm(k, static_cast<int32_t>(bytes));
    copies(b->SAdd(from, moved), b->SAdd(to, moved), kCopied);
    b->EndLoop();
  }
  if (done == registers) return;
  b->NewBlock("last copies");
  const auto moved = static_cast<int32_t>(done * isa::kVregBytes);
  copies(b->SAddImm(from, moved), b->SAddImm(to, moved), registers - done);
}

int32_t LineRows::TileOffset(int64_t row, int64_t tile) const {
  return static_cast<int32_t>(row / s_.tile_rows * s_.row_stride() +
                              row % s_.tile_rows * isa::kRowBytes +
                              tile * s_.tile_bytes());
}

int64_t LineRows::Lanes(const LinePatch& p, int64_t tile) const {
  return tile + 1 < p.tiles ? isa::kLanes : p.last_lanes;
}

Mask LineRows::FirstRow() { return b_.Range(0, isa::kLanes, 0, 1); }

void LineRows::Known(const LinePatch& p) {
  constexpr auto kLanes = static_cast<int>(isa::kLanes);
  const auto row_of = [](int64_t row) {
    return static_cast<int32_t>(row * isa::kRowBytes);
  };
  const int count = p.apart > 0 ? static_cast<int>(isa::kSublanes) : 1;
  const int32_t tile_stride = TileOffset(p.apart, 0);
  const int32_t line_stride = row_of(p.apart * s_.columns / isa::kLanes);
  const auto load = [&](int space, Sca at, int32_t offset, int32_t stride) {
    return count == 1 ? b_.LoadRow(space, at, offset)
                      : b_.LoadStrided(space, at, offset, stride, 1);
  };
  const auto store = [&](int space, Sca at, int32_t offset, int32_t stride,
                         Vec v, int begin, int end) {
    const Mask mask = b_.Range(begin, end, 0, count);
    if (count == 1) {
      b_.StoreMasked(space, at, offset, v, mask);
    } else {
      b_.StoreStridedMasked(space, at, offset, stride, 1, v, mask);
    }
  };
  // A row of 128 words is 512 bytes.
  const Sca line = b_.SAdd(line_at_, b_.SBinaryImm(Opcode::kSshll, p.place, 2));
  // The row of the line that was read last: narrow rows share them.
  int64_t held = -1;
  Vec held_row;
  const auto row = [&](int64_t r) {
    if (r != held) held_row = load(line_, line, row_of(r), line_stride);
    held = r;
    return held_row;
  };
  for (int64_t r = 0; r < p.rows; ++r) {
    if (p.apart > 0 && r / p.apart % count != 0) continue;
    for (int64_t t = 0; t < p.tiles; ++t) {
      const int64_t element = r * s_.columns + t * isa::kLanes;
      const int64_t from = element / isa::kLanes;
      const auto lane = static_cast<int>(element % isa::kLanes);
      const auto end = lane + static_cast<int>(Lanes(p, t));
      const int32_t offset = TileOffset(r, t);
      if (way_ == kFill) {
        Vec v = load(tiles_, p.at, offset, tile_stride);
        if (lane > 0) v = b_.RotateLanes(v, lane);
        store(line_, line, row_of(from), line_stride, v, lane,
              std::min(end, kLanes));
        if (end > kLanes) {
          store(line_, line, row_of(from + 1), line_stride, v, 0, end - kLanes);
        }
        continue;
      }
      Vec v = row(from);
      if (end > kLanes) {
        v = b_.Select(b_.Range(lane, kLanes, 0, 8), v, row(from + 1));
      }
      if (lane > 0) v = b_.RotateLanes(v, kLanes - lane);
      store(tiles_, p.at, offset, tile_stride, v, 0, kLanes);
    }
  }
}

void LineRows::Computed(const LinePatch& p) {
  const auto row_of = [](int64_t row) {
    return static_cast<int32_t>(row * isa::kRowBytes);
  };
  for (int64_t r = 0; r < p.rows; ++r) {
    const Sca place = b_.SAddImm(p.place, static_cast<int32_t>(r * s_.columns));
    Sca word = b_.SBinaryImm(Opcode::kSshra, place, 7);
    // What is not of this step goes to the slack.
    word = b_.SBinaryImm(Opcode::kSmax, word, -(kMostTiles + 1));
    word = b_.SBinaryImm(Opcode::kSmin, word, static_cast<int32_t>(line_rows_));
    const Sca line = b_.SAdd(line_at_, b_.SBinaryImm(Opcode::kSshll, word, 9));
    const Sca lane = b_.SBinaryImm(Opcode::kSand, place, isa::kLanes - 1);
    if (way_ == kFill) {
      // Lanes of two rows of the line, counted from the first's first.
      const Vec behind =
          b_.Binary(Opcode::kVsubS32, b_.LaneSequence(), b_.Splat(lane));
      for (int64_t t = 0; t < p.tiles; ++t) {
        const Vec v =
            b_.RotateLanes(b_.LoadRow(tiles_, p.at, TileOffset(r, t)), lane);
        const Mask mine = b_.CompareImm(Opcode::kVcmpLtU32, behind,
                                        static_cast<uint32_t>(Lanes(p, t)));
        b_.StoreMasked(line_, line, row_of(t), v, mine);
      }
      continue;
    }
    const Mask mine = b_.Compare(
        Opcode::kVcmpGeS32,
        b_.BinaryImm(Opcode::kVand, b_.LaneSequence(), isa::kLanes - 1),
        b_.Splat(lane));
    const Sca back = b_.SBinary(Opcode::kSsub, b_.SImm(isa::kLanes), lane);
    Vec here = b_.LoadRow(line_, line, 0);
    for (int64_t t = 0; t < p.tiles; ++t) {
      const Vec next = b_.LoadRow(line_, line, row_of(t + 1));
      b_.StoreMasked(tiles_, p.at, TileOffset(r, t),
                     b_.RotateLanes(b_.Select(mine, here, next), back),
                     FirstRow());
      here = next;
    }
  }
}

}  // namespace ptxla::lowering

#include "hlo_backend/lowering/movement/lane_blocks.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::NarrowType;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {
constexpr int kIn = kPermutedIn, kOut = kPermutedOut;
constexpr uint32_t kLow = 0xFFFFu, kHigh = 0xFFFF0000u;
}  // namespace

LaneBlocks::LaneBlocks(const LaneProblem& p, const PermutedBox& box,
                       CodeBuilder* b)
    : p_(p),
      b_(*b),
      narrow_types_(p.pack == 2 && NarrowTiles::Needed(b->model())),
      narrow_(b, p.pack == 1 ? 0
                             : (p.FromRows() ? NarrowTiles::kLoad16 : 0) |
                                   (p.ToRows() ? NarrowTiles::kStore16 : 0)),
      x_pitch_(box.Pitch(kIn, p.from[p.x])),
      l_pitch_(box.Pitch(kOut, p.l)) {
  if (!p.ToRows() && p.a != p.b) a_in_ = box.Pitch(kIn, p.from[p.a]);
  if (!p.FromRows() && p.a != p.b) b_out_ = box.Pitch(kOut, p.b);
}

void LaneBlocks::Emit(Sca from, Sca to, const Block& block) {
  int64_t in = block.in, out = block.out;
  if (!p_.FromRows()) in += InRow(p_.a == p_.b ? block.a : block.b);
  if (!p_.ToRows()) out += InRow(block.a);
  in += block.a * a_in_;
  out += block.b * b_out_;
  const auto columns = static_cast<int>(CeilOfRatio<int64_t>(block.columns, 8));
  const auto turn = [&](const Tiles& tiles) {
    return b_.Transpose(tiles, columns);
  };
  const auto load = [&](int64_t at) {
    return p_.FromRows() ? LoadRows(from, at, block.rows)
                         : LoadPlanes(from, at, block.rows);
  };
  const auto store = [&](int64_t at, const Tiles& tiles) {
    p_.ToRows() ? StoreRows(to, at, tiles) : StorePlanes(to, at, tiles);
  };
  // A pair of rows of both sides, or one word: as it is.
  if (p_.pack == 1 || p_.a == p_.b) {
    store(out, turn(load(in)));
    return;
  }
  if (p_.FromRows()) {
    const Tiles low = load(in);
    store(out, turn(Words(low, block.more_a ? load(in + a_in_) : low)));
    return;
  }
  if (p_.ToRows()) {
    const Tiles words = turn(load(in));
    store(out, Halves(words, false));
    if (block.more_b) store(out + b_out_, Halves(words, true));
    return;
  }
  // Pairs of b become pairs of a.
  const Tiles first = load(in);
  const Tiles second = block.more_a ? load(in + a_in_) : first;
  Tiles low, high;
  for (size_t k = 0; k < first.size(); ++k) {
    low.push_back(b_.Binary(Opcode::kVor,
                            b_.BinaryImm(Opcode::kVand, first[k], kLow),
                            b_.BinaryImm(Opcode::kVshll, second[k], 16)));
    high.push_back(b_.Binary(Opcode::kVor,
                             b_.BinaryImm(Opcode::kVshrl, first[k], 16),
                             b_.BinaryImm(Opcode::kVand, second[k], kHigh)));
  }
  store(out, turn(low));
  if (block.more_b) store(out + b_out_, turn(high));
}

LaneBlocks::Tiles LaneBlocks::LoadPlanes(Sca f, int64_t at, int64_t rows) {
  Tiles tiles;
  for (int64_t k = 0; k < rows; k += 8) {
    tiles.push_back(b_.LoadStrided(kIn, f,
                                   static_cast<int32_t>(at + k * x_pitch_),
                                   static_cast<int32_t>(x_pitch_), 1));
  }
  return tiles;
}

LaneBlocks::Tiles LaneBlocks::LoadRows(Sca f, int64_t at, int64_t rows) {
  Tiles tiles;
  const int64_t n = CeilOfRatio<int64_t>(rows, 8);
  for (int64_t k = 0; k < n; ++k) {
    const auto offset = static_cast<int32_t>(at + k * x_pitch_);
    const auto pitch = static_cast<int32_t>(x_pitch_);
    if (p_.pack == 1) {
      tiles.push_back(b_.Load(kIn, f, offset));
    } else if (narrow_types_) {
      tiles.push_back(narrow_.Load(NarrowType::kBf16, kIn, f, offset));
    } else if (k + 1 < n) {
      const Vec v = b_.LoadStrided(kIn, f, offset, pitch, 4);
      tiles.push_back(b_.Unary(Opcode::kVunpackCLBf16, v));
      tiles.push_back(b_.Unary(Opcode::kVunpackCHBf16, v));
      ++k;
    } else {
      tiles.push_back(b_.Unary(Opcode::kVunpackCLBf16,
                               b_.LoadStrided(kIn, f, offset, 0, 4)));
    }
  }
  return tiles;
}

LaneBlocks::Tiles LaneBlocks::Words(const Tiles& low, const Tiles& high) {
  Tiles words;
  for (size_t k = 0; k < low.size(); ++k) {
    words.push_back(narrow_types_
                        ? b_.Binary(Opcode::kVor, high[k],
                                    b_.BinaryImm(Opcode::kVshrl, low[k], 16))
                        : b_.Binary(Opcode::kVpackIBf16, low[k], high[k]));
  }
  return words;
}

LaneBlocks::Tiles LaneBlocks::Halves(const Tiles& words, bool high) {
  Tiles halves;
  for (const Vec v : words) {
    halves.push_back(high ? b_.BinaryImm(Opcode::kVand, v, kHigh)
                          : b_.BinaryImm(Opcode::kVshll, v, 16));
  }
  return halves;
}

void LaneBlocks::StorePlanes(Sca t, int64_t at, const Tiles& tiles) {
  for (size_t k = 0; k < tiles.size(); ++k) {
    const int64_t first = at + static_cast<int64_t>(k) * 8 * l_pitch_;
    b_.StoreStrided(kOut, t, static_cast<int32_t>(first),
                    static_cast<int32_t>(l_pitch_), 1, tiles[k]);
  }
}

void LaneBlocks::StoreRows(Sca t, int64_t at, const Tiles& tiles) {
  const auto pitch = static_cast<int32_t>(l_pitch_);
  for (size_t k = 0; k < tiles.size(); ++k) {
    const auto offset =
        static_cast<int32_t>(at + static_cast<int64_t>(k) * l_pitch_);
    if (p_.pack == 1) {
      b_.Store(kOut, t, offset, tiles[k]);
    } else if (narrow_types_) {
      narrow_.Store(NarrowType::kBf16, kOut, t, offset, tiles[k]);
    } else if (k + 1 < tiles.size()) {
      b_.StoreStrided(kOut, t, offset, pitch, 4,
                      b_.Binary(Opcode::kVpackCBf16, tiles[k], tiles[k + 1]));
      ++k;
    } else {
      // A sublane without a mask has no address.
      b_.StoreStridedMasked(kOut, t, offset, pitch, 4,
                            b_.Binary(Opcode::kVpackCBf16, tiles[k], tiles[k]),
                            b_.Range(0, isa::kLanes, 0, 4));
    }
  }
}

}  // namespace ptxla::lowering

#include "hlo_backend/lowering/movement/strip_mover.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Result registers of one block of bundles: more of those that the XLU rotates,
// which is filled and drained in each. ASSUMED.
constexpr int64_t kUnroll = 16, kUnrollRotated = 48;

class Emitter {
 public:
  Emitter(CodeBuilder& b, const StripMove& m)
      : b_(b),
        m_(m),
        unroll_(m.lanes != 0 || m.lane_shift.valid() ? kUnrollRotated
                                                     : kUnroll) {
    for (size_t p = 0; p < m.planes.size(); ++p) {
      levels_.push_back(
          {m.planes[p], m.from.plane_strides[p], m.to.plane_strides[p]});
    }
    levels_.push_back({m.columns, m.from.column_stride, m.to.column_stride});
    levels_.push_back(
        {m.registers, m.from.register_stride, m.to.register_stride});
    split_ = levels_.size();
    while (split_ > 0 && inner_ * levels_[split_ - 1].count <= unroll_) {
      inner_ *= levels_[--split_].count;
    }
  }

  void Run() { Walk(0, m_.from.base, m_.to.base); }

 private:
  struct Level {
    int64_t count, from, to;
    Sca index = {};      // of the loop, if there is one
    int64_t offset = 0;  // of the block, beside it
  };

  // A loop over a level: the counter, and where its turn begins.
  template <class Fn>
  void Loop(Level& level, int64_t trips, int64_t each, Sca from, Sca to,
            Fn body) {
    level.index = b_.BeginLoop(trips, static_cast<int32_t>(each));
    const Sca f = b_.GlobalSca(), t = b_.GlobalSca();
    b_.NewBlock("strips");
    b_.SMove(f, b_.SAdd(from, b_.SMulImm(level.index,
                                         static_cast<int32_t>(level.from))));
    b_.SMove(t, b_.SAdd(to, b_.SMulImm(level.index,
                                       static_cast<int32_t>(level.to))));
    // Where in the banks they are varies, how far their registers are apart
    // does not.
    b_.SetBank(f, b_.NewBankGroup(), 0);
    b_.SetBank(t, b_.NewBankGroup(), 0);
    body(f, t);
    b_.EndLoop();
    level.index = {};
  }

  void Walk(size_t l, Sca from, Sca to) {
    if (l == split_) {
      const int64_t count = l < levels_.size() ? levels_[l].count : 1;
      return Block(from, to, l, count);
    }
    Level& level = levels_[l];
    if (l + 1 < split_) {
      if (level.count == 1) return Walk(l + 1, from, to);
      return Loop(level, level.count, 1, from, to,
                  [&](Sca f, Sca t) { Walk(l + 1, f, t); });
    }
    const int64_t each = std::max<int64_t>(1, unroll_ / inner_);
    const int64_t trips = level.count / each, rest = level.count % each;
    if (trips == 1) {
      Block(from, to, l, each);
    } else if (trips > 1) {
      Loop(level, trips, each, from, to,
           [&](Sca f, Sca t) { Block(f, t, l, each); });
    }
    if (rest > 0) {
      level.offset = trips * each;
      Block(from, to, l, rest);
      level.offset = 0;
    }
  }

  // Levels from `first` on, of the first `count` turns, unrolled.
  void Block(Sca from, Sca to, size_t first, int64_t count) {
    b_.NewBlock("move strips");
    from_ = from;
    to_ = to;
    shifted_.clear();
    planes_.clear();
    lanes_.clear();
    lane_ = row_ = {};
    splats_.clear();
    std::vector<int64_t> index(levels_.size(), 0);
    for (size_t l = 0; l < levels_.size(); ++l) index[l] = levels_[l].offset;
    Unroll(first, count, index);
  }

  void Unroll(size_t l, int64_t count, std::vector<int64_t>& index) {
    if (l == levels_.size()) return Register(index);
    const int64_t begin = index[l];
    for (int64_t k = 0; k < count; ++k) {
      index[l] = begin + k;
      Unroll(l + 1, l + 1 < levels_.size() ? levels_[l + 1].count : 1, index);
    }
    index[l] = begin;
  }

  void Register(const std::vector<int64_t>& index) {
    int64_t from = 0, to = 0;
    for (size_t l = 0; l < levels_.size(); ++l) {
      from += index[l] * levels_[l].from;
      to += index[l] * levels_[l].to;
    }
    Vec v = Moved(from);
    const auto at = static_cast<int32_t>(to);
    const Vec w = Counts(index);
    if (w.valid()) {
      Vec other;
      if (m_.keep) {
        other = b_.Load(m_.to.space, to_, at);
      } else if (m_.fill.valid()) {
        other = m_.fill;
      }
      if (other.valid()) {
        // Bits of v where w is set.
        v = b_.Binary(
            Opcode::kVxor, other,
            b_.Binary(Opcode::kVand, w, b_.Binary(Opcode::kVxor, other, v)));
      }
    } else if (const Mask mask = MaskOf(index); mask.valid()) {
      if (m_.keep) {
        v = b_.Select(mask, v, b_.Load(m_.to.space, to_, at));
      } else if (m_.fill.valid()) {
        v = b_.Select(mask, v, m_.fill);
      }
    }
    b_.Store(m_.to.space, to_, at, v);
  }

  // --- Shifts ---

  Vec Splat(Sca s) {
    Vec& v = splats_[s.id];
    if (!v.valid()) v = b_.Splat(s);
    return v;
  }

  // The word rows from byte `at` of the strip on, moved up by the shift and
  // `more` rows.
  Vec RowsAt(int64_t at, int64_t more) {
    Vec& known = shifted_[{at, more}];
    if (known.valid()) return known;
    const auto load = [&](int64_t words) { return LoadWords(at, words); };
    const int bits = 32 / m_.packing;
    if (m_.bit_shift.valid()) {
      // `more` rows further: whole words, and a shift that may pass a word.
      const Vec low = load(0), high = load(1);
      Vec v = Joined(low, high, Splat(m_.bit_shift));
      if (more > 0) {
        const Vec next = Joined(high, load(2), Splat(m_.bit_shift));
        v = m_.packing == 1
                ? next
                : b_.Binary(Opcode::kVor,
                            b_.BinaryImm(Opcode::kVshrl, v,
                                         static_cast<uint32_t>(bits)),
                            b_.BinaryImm(Opcode::kVshll, next,
                                         static_cast<uint32_t>(32 - bits)));
      }
      return shifted_[{at, more}] = v;
    }
    const int64_t rows = m_.rows + more;
    const int64_t word = rows / m_.packing;
    const auto part = static_cast<uint32_t>(rows % m_.packing * bits);
    Vec v = load(word);
    if (part != 0) {
      v = b_.Binary(Opcode::kVor, b_.BinaryImm(Opcode::kVshrl, v, part),
                    b_.BinaryImm(Opcode::kVshll, load(word + 1), 32 - part));
    }
    return shifted_[{at, more}] = v;
  }

  // Word rows [words, words + 8) from byte `at` of the strip on.
  Vec LoadWords(int64_t at, int64_t words) {
    const auto load = [&](int64_t bytes) {
      return b_.Load(m_.from.space, from_, static_cast<int32_t>(at + bytes));
    };
    const auto mine = static_cast<int>(isa::kSublanes - words);
    if (words > 0 && m_.last_rows) return b_.RotateSublanes(load(0), mine);
    const int64_t tile = m_.from.register_stride;
    if (words == 0 || tile == isa::kVregBytes) {
      return load(words * isa::kRowBytes);
    }
    // Of two tiles, one above the other.
    const Vec below = load(tile - mine * isa::kRowBytes);
    if (mine == 0) return below;
    return b_.Select(b_.Range(0, 128, 0, mine), load(words * isa::kRowBytes),
                     below);
  }

  Vec Joined(Vec low, Vec high, Vec shift) {
    const Vec back = b_.Binary(Opcode::kVsubS32, b_.Imm(32), shift);
    return b_.Binary(Opcode::kVor, b_.Binary(Opcode::kVshrl, low, shift),
                     b_.Binary(Opcode::kVshll, high, back));
  }

  Vec Moved(int64_t at) {
    const Vec v = RowsAt(at, 0);
    if (m_.lanes == 0 && !m_.lane_shift.valid()) return v;
    const Vec next = m_.last_lanes ? v
                     : m_.linear   ? RowsAt(at, 1)
                                   : RowsAt(at + m_.from.column_stride, 0);
    if (!m_.lane_shift.valid()) {
      const Vec both = b_.Select(b_.Range(m_.lanes, 128, 0, 8), v, next);
      return b_.RotateLanes(both, 128 - m_.lanes);
    }
    const Mask first =
        b_.Compare(Opcode::kVcmpGeS32, Lane(), Splat(m_.lane_shift));
    const Sca back = b_.SBinary(Opcode::kSsub, b_.SImm(128), m_.lane_shift);
    return b_.RotateLanes(b_.Select(first, v, next), back);
  }

  // --- Checks ---

  Vec Lane() {
    if (!lane_.valid()) {
      lane_ = b_.BinaryImm(Opcode::kVand, b_.LaneSequence(), 127);
    }
    return lane_;
  }

  // Of the first part: row of each element in its register, or, in a linear
  // array, its number.
  Vec Row() {
    if (row_.valid()) return row_;
    row_ = b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7);
    if (m_.packing > 1) {
      row_ = b_.BinaryImm(Opcode::kVshll, row_, m_.packing == 2 ? 1 : 2);
    }
    if (m_.linear) {
      row_ = b_.Binary(Opcode::kVaddS32, Lane(),
                       b_.BinaryImm(Opcode::kVshll, row_, 7));
    }
    return row_;
  }

  // first - index * unit, where index is that of a level.
  Sca Behind(const StripCheck& check, size_t l, int64_t index, int64_t unit) {
    Sca first = check.first;
    if (levels_[l].index.valid()) {
      first =
          b_.SBinary(Opcode::kSsub, first,
                     b_.SMulImm(levels_[l].index, static_cast<int32_t>(unit)));
    }
    return index == 0 ? first
                      : b_.SAddImm(first, static_cast<int32_t>(-index * unit));
  }

  // 1 where the planes count, else 0; invalid if all do.
  Sca Planes(const std::vector<int64_t>& index) {
    std::vector<int64_t> key(
        index.begin(), index.begin() + static_cast<long>(m_.planes.size()));
    Sca& known = planes_[key];
    if (known.valid()) return known;
    Sca all;
    for (size_t p = 0; p < m_.plane_checks.size(); ++p) {
      const StripCheck& check = m_.plane_checks[p];
      if (!check.on) continue;
      const Sca behind =
          b_.SBinary(Opcode::kSsub, b_.SImm(0), Behind(check, p, index[p], 1));
      const Pred in = b_.SCompareImm(Opcode::kScmpLtU, behind,
                                     static_cast<int32_t>(check.count));
      const Sca one = b_.SSelectImm(in, b_.SImm(1), 0);
      all = all.valid() ? b_.SBinary(Opcode::kSand, all, one) : one;
    }
    return planes_[key] = all;
  }

  Mask And(Mask a, Mask b) {
    if (!a.valid()) return b;
    if (!b.valid()) return a;
    return b_.MaskBinary(Opcode::kVmand, a, b);
  }

  // Planes and lanes that count; rows too, if they do not share words.
  Mask MaskOf(const std::vector<int64_t>& index) {
    const size_t l = m_.planes.size();
    Mask& known = lanes_[{std::vector<int64_t>(
        index.begin(), index.begin() + static_cast<long>(l) + 1)}];
    if (!known.valid()) {
      Mask mask;
      if (const Sca in = Planes(index); in.valid()) {
        mask = b_.CompareImm(Opcode::kVcmpNeS32, b_.Splat(in), 0);
      }
      if (m_.lane_check.on) {
        const Vec first =
            b_.Splat(Behind(m_.lane_check, l, index[l], isa::kLanes));
        mask = And(mask, In(Lane(), first, m_.lane_check.count));
      }
      known = mask;
    }
    if (!m_.row_check.on || m_.packing > 1) return known;
    return And(known, In(Row(), FirstRow(index), m_.row_check.count));
  }

  Mask In(Vec x, Vec first, int64_t count) {
    return b_.CompareImm(Opcode::kVcmpLtU32,
                         b_.Binary(Opcode::kVsubS32, x, first),
                         static_cast<uint32_t>(count));
  }

  Vec FirstRow(const std::vector<int64_t>& index) {
    const size_t l = levels_.size() - 1;
    const int64_t unit = int64_t{8} * m_.packing * (m_.linear ? 128 : 1);
    return b_.Splat(Behind(m_.row_check, l, index[l], unit));
  }

  // Bits of the elements that count, where rows share words and are checked.
  Vec Counts(const std::vector<int64_t>& index) {
    if (!m_.row_check.on || m_.packing == 1) return {};
    const Vec first = FirstRow(index);
    const int bits = 32 / m_.packing;
    Vec all;
    for (int part = 0; part < m_.packing; ++part) {
      Vec x = Row();
      if (part > 0) {
        x = b_.BinaryImm(Opcode::kVaddS32, x,
                         static_cast<uint32_t>(part * (m_.linear ? 128 : 1)));
      }
      const uint32_t mine = ((1u << bits) - 1) << (part * bits);
      const Vec w =
          b_.SelectImm(In(x, first, m_.row_check.count), b_.Imm(mine), 0);
      all = all.valid() ? b_.Binary(Opcode::kVor, all, w) : w;
    }
    const Mask mask = MaskOf(index);
    return mask.valid() ? b_.SelectImm(mask, all, 0) : all;
  }

  CodeBuilder& b_;
  const StripMove& m_;
  const int64_t unroll_;
  std::vector<Level> levels_;
  size_t split_ = 0;  // levels from here on are unrolled
  int64_t inner_ = 1;
  Sca from_, to_;
  // Of the open block.
  std::map<std::pair<int64_t, int64_t>, Vec> shifted_;
  std::map<std::vector<int64_t>, Sca> planes_;
  std::map<std::vector<int64_t>, Mask> lanes_;
  std::map<int32_t, Vec> splats_;
  Vec lane_, row_;
};

}  // namespace

StripMove Behind(CodeBuilder& b, const StripMove& move, int64_t registers,
                 int64_t columns) {
  StripMove behind = move;
  b.NewBlock("last strips");
  const auto further = [&](Sca from, int64_t by) {
    const Sca to = b.GlobalSca();
    b.SMove(to, b.SAddImm(from, static_cast<int32_t>(by)));
    return to;
  };
  for (Strips* strips : {&behind.from, &behind.to}) {
    strips->base = further(strips->base, registers * strips->register_stride +
                                             columns * strips->column_stride);
    b.SetBank(strips->base, b.NewBankGroup(), 0);
  }
  if (registers > 0 && move.row_check.on) {
    behind.row_check.first = further(
        move.row_check.first, -registers * isa::kSublanes * move.packing *
                                  (move.linear ? isa::kLanes : 1));
  }
  if (columns > 0 && move.lane_check.on) {
    behind.lane_check.first =
        further(move.lane_check.first, -columns * isa::kLanes);
  }
  behind.registers -= registers;
  behind.columns -= columns;
  return behind;
}

void EmitStripMove(CodeBuilder& b, const StripMove& move) {
  Emitter(b, move).Run();
}

}  // namespace ptxla::lowering

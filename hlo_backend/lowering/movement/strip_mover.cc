#include "hlo_backend/lowering/movement/strip_mover.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.h"
#include "hlo_backend/lowering/movement/strip_checks.h"

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
                                                     : kUnroll),
        loops_(m.planes.size() + 2),
        checks_(b, m, &loops_) {
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
    int64_t offset = 0;  // of the block, beside its loop
  };

  // A loop over a level: the counter, and where its turn begins.
  template <class Fn>
  void Loop(size_t l, int64_t trips, int64_t each, Sca from, Sca to, Fn body) {
    const Sca index = b_.BeginLoop(trips, static_cast<int32_t>(each));
    loops_[l] = index;
    const auto next = [&](Sca base, int64_t stride) {
      return b_.SAdd(base, b_.SMulImm(index, static_cast<int32_t>(stride)));
    };
    const Sca f = b_.GlobalSca(), t = b_.GlobalSca();
    b_.NewBlock("strips");
    b_.SMove(f, next(from, levels_[l].from));
    b_.SMove(t, next(to, levels_[l].to));
    // Where in the banks they are varies, how far their registers are apart
    // does not.
    b_.SetBank(f, b_.NewBankGroup(), 0);
    b_.SetBank(t, b_.NewBankGroup(), 0);
    body(f, t);
    b_.EndLoop();
    loops_[l] = {};
  }

  void Walk(size_t l, Sca from, Sca to) {
    if (l == split_) {
      const int64_t count = l < levels_.size() ? levels_[l].count : 1;
      return Block(from, to, l, count);
    }
    Level& level = levels_[l];
    if (l + 1 < split_) {
      if (level.count == 1) return Walk(l + 1, from, to);
      return Loop(l, level.count, 1, from, to,
                  [&](Sca f, Sca t) { Walk(l + 1, f, t); });
    }
    const int64_t each = std::max<int64_t>(1, unroll_ / inner_);
    const int64_t trips = level.count / each, rest = level.count % each;
    if (trips == 1) {
      Block(from, to, l, each);
    } else if (trips > 1) {
      Loop(l, trips, each, from, to,
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
    splats_.clear();
    checks_.Forget();
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
    const Vec w = checks_.Counts(index);
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
    } else if (const Mask mask = checks_.MaskOf(index); mask.valid()) {
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
        b_.Compare(Opcode::kVcmpGeS32, checks_.Lane(), Splat(m_.lane_shift));
    const Sca back = b_.SBinary(Opcode::kSsub, b_.SImm(128), m_.lane_shift);
    return b_.RotateLanes(b_.Select(first, v, next), back);
  }

  CodeBuilder& b_;
  const StripMove& m_;
  const int64_t unroll_;
  std::vector<Level> levels_;
  std::vector<Sca> loops_;  // their counters; invalid: none is open
  StripChecks checks_;
  size_t split_ = 0;  // levels from here on are unrolled
  int64_t inner_ = 1;
  Sca from_, to_;
  // Of the open block.
  std::map<std::pair<int64_t, int64_t>, Vec> shifted_;
  std::map<int32_t, Vec> splats_;
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

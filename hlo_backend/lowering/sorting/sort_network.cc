#include "hlo_backend/lowering/sorting/sort_network.h"

#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int kSublaneBits = 3;
constexpr int kScratch = 0;  // memory space of all that is sorted

}  // namespace

SortNetwork::SortNetwork(const SortProblem& problem, const SortLayout& layout,
                         SortOrder* order, CodeBuilder* b)
    : problem_(problem),
      layout_(layout),
      order_(*order),
      b_(*b),
      row_bits_(problem.row_bits()),
      lane_bits_(problem.lane_bits()),
      levels_(row_bits_ + lane_bits_),
      carried_(problem.carried()) {}

int SortNetwork::Pass::SublaneBit(int row_bit) const {
  const int together = std::min(low, kSublaneBits);
  if (row_bit < together) return row_bit;
  if (together == kSublaneBits || row_bit < low + width || row_bit >= above) {
    return -1;
  }
  return together + row_bit - (low + width);
}

SortNetwork::Pass SortNetwork::MakePass(int low, int width) const {
  Pass pass;
  pass.low = low;
  pass.width = width;
  const int together = std::min(low, kSublaneBits);
  pass.group = 1 << together;
  pass.stride = int64_t{1} << (low + width);
  pass.above = together == kSublaneBits ? low + width
                                        : low + width + kSublaneBits - together;
  return pass;
}

absl::Status SortNetwork::Emit() {
  // Levels whose stages all are in the lowest bits are one pass.
  const int first = std::min(layout_.width, row_bits_);
  Pass pass = MakePass(0, first);
  for (int level = 1; level <= first; ++level) {
    for (int bit = level - 1; bit >= 0; --bit) {
      pass.stages.push_back({level, bit});
    }
  }
  RETURN_IF_ERROR(RowPass(pass));
  for (int level = first + 1; level <= levels_; ++level) {
    if (level > row_bits_) RETURN_IF_ERROR(LanePass(level));
    RETURN_IF_ERROR(RowStages(level));
  }
  return absl::OkStatus();
}

// The stages of a level whose partners are other rows.
absl::Status SortNetwork::RowStages(int level) {
  int bits = std::min(level, row_bits_);
  while (bits > 0) {
    // The lowest bits last, as many as a pass takes; what is left over first.
    const int lowest = std::min(layout_.width, bits);
    const int upper = bits - lowest;
    const int rest = upper % layout_.width;
    const int width = upper == 0 ? lowest : rest > 0 ? rest : layout_.width;
    Pass pass = MakePass(bits - width, width);
    for (int bit = bits - 1; bit >= bits - width; --bit) {
      pass.stages.push_back({level, bit});
    }
    RETURN_IF_ERROR(RowPass(pass));
    bits -= width;
  }
  return absl::OkStatus();
}

absl::Status SortNetwork::RowPass(const Pass& pass) {
  const int level = pass.stages.back().level;
  // Row bits that are neither the pass's nor sublanes, from the highest on;
  // that of the direction apart.
  std::vector<Range> ranges;
  const int64_t above = int64_t{1} << pass.above;
  if (level < std::min(levels_, row_bits_) && level >= pass.above) {
    ranges.push_back({layout_.rows >> (level + 1), int64_t{2} << level});
    ranges.push_back({2, int64_t{1} << level, /*is_direction=*/true});
    ranges.push_back({int64_t{1} << (level - pass.above), above});
  } else {
    ranges.push_back({layout_.rows >> pass.above, above});
  }
  if (pass.low > kSublaneBits) {
    ranges.push_back({int64_t{1} << (pass.low - kSublaneBits), 8});
  }
  // As many groups of registers in one block as fit beside what is computed
  // from them: the inner ranges, the next one in part.
  const int64_t registers = int64_t{problem_.compared()} << pass.width;
  const int64_t most =
      std::max<int64_t>(1, b_.model().vregs * 5 / 8 / registers);
  std::vector<Group> groups = {{0, false}};
  while (!ranges.empty()) {
    Range& range = ranges.back();
    int64_t part =
        std::min(most / static_cast<int64_t>(groups.size()), range.trips);
    while (range.trips % part != 0) --part;
    const std::vector<Group> inner = groups;
    for (int64_t k = 1; k < part; ++k) {
      for (const Group& g : inner) {
        groups.push_back(
            {g.start + k * range.stride, g.down || range.is_direction});
      }
    }
    if (part < range.trips) {
      range.trips /= part;
      range.stride *= part;
      break;
    }
    ranges.pop_back();
  }
  std::vector<Sca> counters;
  return Loops(pass, ranges, 0, groups, &counters);
}

absl::Status SortNetwork::Loops(const Pass& pass,
                                const std::vector<Range>& ranges, size_t depth,
                                const std::vector<Group>& groups,
                                std::vector<Sca>* counters) {
  if (depth == ranges.size()) return RowBody(pass, groups, *counters);
  const Range& range = ranges[depth];
  if (range.trips == 1) return Loops(pass, ranges, depth + 1, groups, counters);
  if (range.is_direction) {
    RETURN_IF_ERROR(Loops(pass, ranges, depth + 1, groups, counters));
    std::vector<Group> down = groups;
    for (Group& g : down) g = {g.start + range.stride, true};
    return Loops(pass, ranges, depth + 1, down, counters);
  }
  b_.BeginScope();
  counters->push_back(b_.BeginLoop(
      range.trips, static_cast<int32_t>(range.stride * isa::kRowBytes)));
  const absl::Status status = Loops(pass, ranges, depth + 1, groups, counters);
  b_.EndLoop();
  counters->pop_back();
  b_.EndScope();
  return status;
}

Sca SortNetwork::Address(const std::vector<Sca>& counters) {
  if (counters.empty()) return layout_.base;
  Sca sum = layout_.base;
  for (Sca counter : counters) sum = b_.SAdd(sum, counter);
  b_.SetBank(sum, b_.NewBankGroup(), 0);
  return sum;
}

int32_t SortNetwork::Offset(int array, int64_t row) const {
  return static_cast<int32_t>(array * layout_.array_bytes +
                              row * isa::kRowBytes);
}

absl::Status SortNetwork::RowBody(const Pass& pass,
                                  const std::vector<Group>& groups,
                                  const std::vector<Sca>& counters) {
  b_.NewBlock("compare rows");
  order_.StartBlock();
  const Sca at = Address(counters);
  const bool plain = pass.group == 8;
  const int32_t stride = static_cast<int32_t>(pass.stride * isa::kRowBytes);
  const int64_t rows = int64_t{1} << pass.width;
  const int64_t n = static_cast<int64_t>(groups.size());
  const auto offset = [&](int array, int64_t g, int64_t i) {
    return Offset(array, groups[g].start + (i << pass.low));
  };
  std::vector<std::vector<Row>> x(n, std::vector<Row>(rows));
  for (int64_t g = 0; g < n; ++g) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int k = 0; k < carried_; ++k) {
        x[g][i].push_back(plain ? b_.Load(kScratch, at, offset(k, g, i))
                                : b_.LoadStrided(kScratch, at, offset(k, g, i),
                                                 stride, pass.group));
      }
      RETURN_IF_ERROR(order_.AddKey(&x[g][i]));
    }
  }
  std::vector<Mask> masks(levels_ + 1);
  for (const Stage& stage : pass.stages) {
    // Descending where a bit of the register's number says so.
    const int known = stage.level - pass.low;
    const bool by_register =
        stage.level < levels_ && known >= 0 && known < pass.width;
    Mask& mask = masks[stage.level];
    if (!by_register && !mask.valid()) mask = Descending(pass, stage.level);
    const int64_t bit = int64_t{1} << (stage.bit - pass.low);
    for (int64_t g = 0; g < n; ++g) {
      for (int64_t i = 0; i < rows; ++i) {
        if (i & bit) continue;
        const bool down = by_register ? (i >> known & 1) != 0 : groups[g].down;
        RETURN_IF_ERROR(Exchange(&x[g][i], &x[g][i | bit], down, mask,
                                 &stage == &pass.stages.back()));
      }
    }
  }
  for (int64_t g = 0; g < n; ++g) {
    for (int64_t i = 0; i < rows; ++i) {
      order_.RemoveKey(&x[g][i]);
      for (int k = 0; k < carried_; ++k) {
        if (plain) {
          b_.Store(kScratch, at, offset(k, g, i), x[g][i][k]);
        } else {
          b_.StoreStrided(kScratch, at, offset(k, g, i), stride, pass.group,
                          x[g][i][k]);
        }
      }
    }
  }
  return absl::OkStatus();
}

Mask SortNetwork::LaneBit(int bit) {
  return b_.CompareImm(
      Opcode::kVcmpNeS32,
      b_.BinaryImm(Opcode::kVand, b_.LaneSequence(), uint32_t{1} << bit), 0);
}

Mask SortNetwork::Descending(const Pass& pass, int level) {
  if (level >= levels_) return {};
  if (level >= row_bits_) return LaneBit(level - row_bits_);
  const int sublane_bit = pass.SublaneBit(level);
  // Of the lane sequence, which counts sublanes from bit 7 on.
  return sublane_bit < 0 ? Mask() : LaneBit(7 + sublane_bit);
}

absl::Status SortNetwork::Exchange(Row* x, Row* y, bool down, Mask mask,
                                   bool last) {
  ASSIGN_OR_RETURN(Mask swap,
                   down ? order_.Before(*x, *y) : order_.Before(*y, *x));
  if (mask.valid()) swap = b_.MaskBinary(Opcode::kVmxor, swap, mask);
  const size_t moved = last ? carried_ : x->size();
  for (size_t k = 0; k < moved; ++k) {
    const Vec first = b_.Select(swap, (*y)[k], (*x)[k]);
    (*y)[k] = b_.Select(swap, (*x)[k], (*y)[k]);
    (*x)[k] = first;
  }
  return absl::OkStatus();
}

absl::Status SortNetwork::LanePass(int level) {
  const int64_t all = layout_.rows / 8;
  // Elements in flight: what the permutes make waits in their queue. Numbers
  // that a comparison makes take registers, too.
  const int eighths = order_.MakesNumbers() ? 3 : 6;
  int64_t registers = std::max<int64_t>(
      1, b_.model().vregs * eighths / 8 / problem_.compared());
  registers = std::min(registers, all);
  while (all % registers != 0) --registers;
  const int stages = level - row_bits_;
  const int blocks = CeilOfRatio(stages, layout_.lane_stages);
  for (int k = 0; k < blocks; ++k) {
    const int first = stages - 1 - stages * k / blocks;
    const int last = stages - stages * (k + 1) / blocks;
    if (registers == all) {
      RETURN_IF_ERROR(LaneBody(level, first, last, {}, registers));
      continue;
    }
    b_.BeginScope();
    const Sca at =
        b_.BeginLoop(all / registers, static_cast<int32_t>(registers * 4096));
    RETURN_IF_ERROR(LaneBody(level, first, last, {at}, registers));
    b_.EndLoop();
    b_.EndScope();
  }
  return absl::OkStatus();
}

absl::Status SortNetwork::LaneBody(int level, int first, int last,
                                   const std::vector<Sca>& counters,
                                   int64_t registers) {
  b_.NewBlock("compare lanes");
  order_.StartBlock();
  const Sca at = Address(counters);
  std::vector<Row> x(registers);
  for (int64_t r = 0; r < registers; ++r) {
    for (int k = 0; k < carried_; ++k) {
      x[r].push_back(b_.Load(kScratch, at, Offset(k, r * 8)));
    }
    RETURN_IF_ERROR(order_.AddKey(&x[r]));
  }
  const Vec lanes = b_.LaneSequence();
  const Mask down = level < levels_ ? LaneBit(level - row_bits_) : Mask();
  const bool strict = problem_.tie >= 0;
  for (int bit = first; bit >= last; --bit) {
    const Vec partner_lane =
        b_.BinaryImm(Opcode::kVxor, lanes, uint32_t{1} << bit);
    const Mask upper = LaneBit(bit);
    // Both lanes of a pair decide alike: both see the lower and the upper.
    // Where no two elements are equal each may ask whether its partner comes
    // first, and the upper one does the opposite.
    Mask turned = down;
    if (strict) {
      turned =
          down.valid() ? b_.MaskBinary(Opcode::kVmxor, upper, down) : upper;
    }
    for (int64_t r = 0; r < registers; ++r) {
      const auto n = static_cast<int>(x[r].size());
      Row partner, below(n), over(n);
      for (int k = 0; k < n; ++k) {
        partner.push_back(b_.Permute(x[r][k], partner_lane));
        if (strict || !order_.Reads(k)) continue;
        below[k] = b_.Select(upper, partner[k], x[r][k]);
        over[k] = b_.Select(upper, x[r][k], partner[k]);
      }
      ASSIGN_OR_RETURN(Mask swap, strict ? order_.Before(partner, x[r])
                                         : order_.Before(over, below));
      if (turned.valid()) swap = b_.MaskBinary(Opcode::kVmxor, swap, turned);
      const int moved = bit == last ? carried_ : n;
      for (int k = 0; k < moved; ++k) {
        x[r][k] = b_.Select(swap, partner[k], x[r][k]);
      }
    }
  }
  for (int64_t r = 0; r < registers; ++r) {
    order_.RemoveKey(&x[r]);
    for (int k = 0; k < carried_; ++k) {
      b_.Store(kScratch, at, Offset(k, r * 8), x[r][k]);
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering

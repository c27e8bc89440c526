#include "hlo_backend/lowering/products/stream_transposes.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "hlo_backend/lowering/products/conversion_pace.h"

namespace ptxla::lowering::stream {

using codegen::CodeBuilder;
using codegen::Vec;
using codegen::VInstr;
using isa::Opcode;

namespace {

constexpr int64_t kTile = 128;
// Rows that only have to be loaded, for each XLU: one is pushed, others come.
constexpr size_t kLoads = 4;

}  // namespace

Transposes::Transposes(const ProductTile& tile, const StreamParts& parts,
                       const Walk& walk, MakeRows make_rows, Code* code)
    : tile_(tile),
      parts_(parts),
      k_extent_(parts.k_extent),
      make_rows_(std::move(make_rows)),
      code_(*code),
      bf16_(parts.lhs.type == hlo::PrimitiveType::kBf16) {
  if (!parts.turns_lhs) return;
  const BlockPlace& from = parts.turned;
  CodeBuilder& b = code_.builder();
  const isa::MachineModel& model = b.model();
  rows_.emplace(&b, std::initializer_list<hlo::PrimitiveType>{from.type});
  row_tiles_ = CeilOfRatio<int64_t>(tile.block_m, kTile);
  k_tiles_ = CeilOfRatio<int64_t>(tile.block_k, kTile);
  made_.resize(tile.block_b * row_tiles_ * k_tiles_);
  Order(walk);
  const auto key = bf16_ ? isa::LatencyKey::kXluTransposeB16
                         : isa::LatencyKey::kXluTransposeB32;
  const int64_t pushes = bf16_ ? 8 : 16;
  const int64_t interval = model.Interval(
      bf16_ ? isa::IntervalKey::kXluTransposeB16 : isa::IntervalKey::kXlu);
  horizon_ = model.Latency(key, 0) + 2 * pushes * interval;
  const size_t xlus = std::max(1, model.xlus);
  if (from.computed != nullptr) {
    lead_ = from.computed->lead();
    most_ = static_cast<size_t>(parts.pace.share * model.vregs /
                                from.computed->live_registers());
  } else if (from.slow) {
    lead_ = ConversionPace::kConvertAhead;
    most_ = parts.pace.conversions *
            static_cast<size_t>(model.Slots(isa::Slot::kVector) - 1);
  } else {
    lead_ = ConversionPace::kLoadAhead;
    most_ = kLoads * xlus;
  }
  most_ = std::max<size_t>(1, most_ / xlus);
}

void Transposes::Order(const Walk& walk) {
  std::vector<bool> seen(made_.size());
  const VisitPlan& plan = walk.plan();
  const auto add = [&](const Turn& turn) {
    if (turn.row >= row_tiles_ || turn.k >= k_tiles_) return;
    const int64_t number = NumberOf(turn);
    if (seen[number]) return;
    seen[number] = true;
    order_.push_back(turn);
  };
  for (int64_t v = 0; v < walk.visits(); ++v) {
    for (int64_t g = 0; g < plan.groups; ++g) {
      for (int mxu = 0; mxu < isa::kMaxUnits; ++mxu) {
        const Lane lane = walk.LaneOf(v, mxu);
        const int64_t row = lane.row + g * plan.rows;
        if (!walk.Multiplies(v, lane, row)) continue;
        for (int64_t k = 0; k < plan.tile_k / kTile; ++k) {
          add({lane.batch, row / kTile, walk.K(v) / kTile + k});
        }
        add({lane.batch, (row + plan.rows - 1) / kTile, walk.K(v) / kTile});
      }
    }
  }
}

int64_t Transposes::Need(int64_t batch, int64_t row, int64_t k) {
  if (!parts_.turns_lhs) return -1;
  const int64_t number = NumberOf({batch, row / kTile, k / kTile});
  while (!made_[number]) Make(order_[next_++]);
  return kTurnedKeys + number;
}

void Transposes::Advance(int64_t now) {
  const int xlus = code_.builder().model().xlus;
  while (next_ < order_.size()) {
    int64_t free = code_.scheduler().XluFree(0);
    for (int u = 1; u < xlus; ++u) {
      free = std::min(free, code_.scheduler().XluFree(u));
    }
    if (free >= now + horizon_) return;
    Make(order_[next_++]);
  }
}

std::vector<Vec> Transposes::Load(const Turn& turn, int64_t row, int unit,
                                  int64_t wish) {
  const BlockPlace& from = parts_.turned;
  CodeBuilder& b = code_.builder();
  if (row >= k_extent_) return Beyond(wish);
  int64_t start = std::max<int64_t>(0, wish - lead_);
  std::deque<int64_t>& pushed = pushed_[unit];
  while (pushed.size() >= most_) {
    start = std::max(start, pushed.front());
    pushed.pop_front();
  }
  const int64_t lane = turn.row * kTile;
  int64_t key = -1;
  if (from.computed != nullptr) {
    make_rows_(turn.batch, row, wish);
    key = from.computed->RowsKey(turn.batch, row);
    if (key >= 0) key += kRowKeys;
  }
  b.NewBlock();
  std::vector<Vec> regs;
  if (from.computed != nullptr) {
    regs = from.computed->Tiles(turn.batch, row, lane);
    if (bf16_) regs = {b.Binary(Opcode::kVpackCBf16, regs[0], regs[1])};
  } else if (bf16_) {
    regs = {rows_->Bf16(from, from.base, turn.batch, row, lane)};
  } else {
    for (const Vec x : rows_->F32(from, from.base, turn.batch, row, lane)) {
      regs.push_back(x);
    }
  }
  const int64_t end = code_.PlaceOpenBlock(start, false, key);
  if (from.Converts()) slow_end_ = std::max(slow_end_, end);
  return regs;
}

std::vector<Vec> Transposes::Beyond(int64_t wish) {
  CodeBuilder& b = code_.builder();
  b.NewBlock();
  const Vec zero = b.Imm(0);
  code_.PlaceOpenBlock(std::max<int64_t>(0, wish - 1));
  return std::vector<Vec>(bf16_ ? 1 : 2, zero);
}

void Transposes::Push(int unit, Vec reg, bool first, int results) {
  const bool last = results > 0;
  VInstr push;
  push.op = bf16_ ? Opcode::kVxposeB16Cont : Opcode::kVxposeCont;
  if (first) push.op = bf16_ ? Opcode::kVxposeB16Start : Opcode::kVxposeStart;
  if (last) push.op = bf16_ ? Opcode::kVxposeB16End : Opcode::kVxposeEnd;
  push.unit = static_cast<uint8_t>(unit);
  push.a = reg.id;
  push.imm = results;
  pushed_[unit].push_back(code_.scheduler().Place(push, 0));
}

void Transposes::Make(const Turn& turn) {
  made_[NumberOf(turn)] = true;
  CodeBuilder& b = code_.builder();
  codegen::StreamScheduler& scheduler = code_.scheduler();
  int unit = 0;
  for (int u = 1; u < b.model().xlus; ++u) {
    if (scheduler.XluFree(u) < scheduler.XluFree(unit)) unit = u;
  }
  const int per_result = bf16_ ? 16 : 8;
  const auto results = static_cast<int>(CeilOfRatio<int64_t>(
      std::min<int64_t>(kTile, tile_.block_m - turn.row * kTile), per_result));
  for (int64_t r = 0; r < kTile; r += 16) {
    const std::vector<Vec> regs =
        Load(turn, turn.k * kTile + r, unit, scheduler.XluFree(unit));
    for (size_t i = 0; i < regs.size(); ++i) {
      const bool last = r + 16 == kTile && i + 1 == regs.size();
      Push(unit, regs[i], r == 0 && i == 0, last ? results : 0);
    }
  }
  const BlockPlace& to = parts_.lhs;
  const auto offset = static_cast<int32_t>(
      to.Offset(turn.batch, turn.row * kTile, turn.k * kTile));
  const auto pitch = static_cast<int32_t>(to.row_pitch);
  for (int r = 0; r < results; ++r) {
    b.NewBlock();
    const Vec column = b.NewVec();
    VInstr pop;
    pop.op = Opcode::kVpopTrf;
    pop.unit = static_cast<uint8_t>(unit);
    pop.dst = column.id;
    const int64_t at = scheduler.Place(pop, 0);
    if (bf16_) {
      b.StoreStrided(to.space, to.base, offset + 2 * r * pitch, pitch, 4,
                     column);
    } else {
      b.Store(to.space, to.base, offset + r * pitch, column);
    }
    code_.PlaceOpenBlock(at, false, kTurnedKeys + NumberOf(turn));
  }
}

}  // namespace ptxla::lowering::stream

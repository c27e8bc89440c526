#include "hlo_backend/lowering/products/product_stream.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/conversion_pace.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/stream_meetings.h"
#include "hlo_backend/lowering/products/stream_places.h"
#include "hlo_backend/lowering/products/stream_scheduler.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::StreamScheduler;
using codegen::Vec;
using codegen::VInstr;
using isa::Opcode;
using stream::Lane;
using stream::Position;
using stream::Push;

constexpr int64_t kLoadAhead = ConversionPace::kLoadAhead;
// Keys of the scheduler for converted rows: apart from those of sums.
constexpr int64_t kConvertedKeys = int64_t{1} << 40;
// The second operand of a 256-wide array goes in this long before the first.
constexpr int64_t kPrepAhead = 2;
// An epilogue may lag behind the pops by so many cycles.
constexpr int64_t kSlack = 24;
// The last store of a sum may come so long after its pop.
constexpr int64_t kSumSlack = 12;

class Stream {
 public:
  Stream(const ProductProblem& problem, const ProductTile& tile,
         const ArrayShape& arrays, const StreamParts& parts, Epilogue* epilogue,
         CodeBuilder* b)
      : problem_(problem),
        tile_(tile),
        arrays_(arrays),
        parts_(parts),
        epilogue_(epilogue),
        b_(*b),
        plan_(PlanVisits(problem, tile, arrays)),
        k_tiles_(CeilOfRatio(parts.k_extent, plan_.tile_k)),
        k_visits_(k_tiles_ * static_cast<int64_t>(problem.passes.size())),
        loader_(arrays, parts.k_extent, b, parts.lhs.type, parts.rhs.type),
        scheduler_(*b),
        meetings_(parts.operands, plan_, tile, parts.k_extent),
        conversions_(parts.pace, b->model()) {
    epilogues_ = static_cast<size_t>(std::max(
        1.0, parts.pace.share * b->model().vregs / epilogue->live_registers()));
    in_flight_ = arrays.latency / plan_.group_cycles + 1;
    puts_off_ =
        parts.finishes && parts.pace.may_put_off && k_visits_ > 1 &&
        PutsOffEpilogue(problem, plan_,
                        tile.split_b * tile.split_n * tile.split_m, b->model());
    for (const BlockPlace* place : {&parts_.lhs, &parts_.rhs}) {
      if (place->computed) place->computed->Forget();
    }
    latched_.fill(-1);
  }

  void Emit() {
    const int64_t visits = plan_.macros * k_visits_;
    for (const Push& push : PushesOf(0)) PushWeights(0, push);
    for (int64_t v = 0; v < visits; ++v) {
      std::vector<Push> next;
      if (v + 1 < visits) next = PushesOf(v + 1);
      size_t per_group = 0, pushed = 0;
      for (int64_t g = 0; g < plan_.groups; ++g) {
        Matmuls(v, g);
        // What is pushed must not come before the last weights are latched.
        if (per_group == 0 && (b_.model().staging > 1 || HasLatched(v))) {
          per_group = static_cast<size_t>(
              CeilOfRatio<int64_t>(next.size(), plan_.groups - g));
        }
        for (size_t n = 0; n < per_group && pushed < next.size(); ++n) {
          PushWeights(v + 1, next[pushed++]);
        }
        pending_.push_back({v, g});
        if (static_cast<int64_t>(pending_.size()) > in_flight_) TakeResults();
        LateEpilogues();
      }
    }
    while (!pending_.empty()) TakeResults();
    while (!late_.empty()) LateEpilogue();
    if (parts_.operands != nullptr && parts_.finishes) EmptySums();
    b_.Append(scheduler_.Finish("product"));
  }

 private:
  void TakeResults() {
    const auto [visit, group] = pending_.front();
    pending_.pop_front();
    Results(visit, group);
  }

  // Some of the epilogues that were put off, so many that those of one macro
  // are over when the next one's begin.
  void LateEpilogues() {
    const int64_t lanes = tile_.split_b * tile_.split_n * tile_.split_m;
    turn_ += lanes * (arrays_.size / 128);
    while (turn_ >= k_visits_) {
      turn_ -= k_visits_;
      if (!late_.empty()) LateEpilogue();
    }
  }

  void LateEpilogue() {
    const Position at = late_.front();
    late_.pop_front();
    const BlockPlace& sums = parts_.sums;
    const int64_t wish = EpilogueStart();
    std::vector<Vec> tiles;
    for (int eight = 0; eight < 2; ++eight) {
      const int64_t offset = sums.Offset(at.batch, at.row + 8 * eight, at.col);
      b_.NewBlock();
      tiles.push_back(
          b_.Load(sums.space, sums.base, static_cast<int32_t>(offset)));
      PlaceSums(wish, offset);
    }
    b_.NewBlock();
    epilogue_->Emit(at.batch, at.row, at.col, tiles);
    EndEpilogue(PlaceOpenBlock(wish, parts_.pace.in_order));
  }

  // Sums of nothing: rows that no K meets.
  void EmptySums() {
    for (int64_t v = 0; v < plan_.macros * k_visits_; v += k_visits_) {
      for (int x = 0; x < arrays_.mxus; ++x) {
        Lane lane = LaneOf(v, x);
        if (lane.col >= tile_.block_n || lane.batch >= tile_.block_b ||
            lane.rows < 0) {
          continue;
        }
        for (int64_t g = 0; g < plan_.groups; ++g) {
          const int64_t row = lane.row + g * plan_.rows;
          if (row >= tile_.block_m || meetings_.Of(lane.batch, row).last >= 0)
            continue;
          for (int part = 0; part < 2; ++part) {
            const Position at = PositionOf(lane, row, 0, part);
            if (!at.wanted || (part == 1 && arrays_.size == 128)) continue;
            b_.NewBlock();
            const Vec zero = b_.Imm(0);
            epilogue_->Emit(lane.batch, at.row, at.col, {zero, zero});
            EndEpilogue(PlaceOpenBlock(EpilogueStart(), parts_.pace.in_order));
          }
        }
      }
    }
  }

  // Until then conversions have the vector units nearly for themselves: a
  // result popped before would wait in a register.
  int64_t VectorsFree() const { return conversions_.slow_end() - kSlack; }

  // When the next result of an MXU may be popped. Where the loads and stores of
  // sums fall behind, pops wait for them: in a FIFO, not in registers.
  int64_t PopWish(int mxu) const {
    return std::max(
        scheduler_.ResultDue(mxu) + std::max<int64_t>(0, sums_lag_ - kSumSlack),
        VectorsFree());
  }

  // Only so many epilogues run at once: each holds registers.
  int64_t EpilogueStart() const {
    return std::max(VectorsFree(),
                    ends_.size() < epilogues_ ? 0 : ends_.front());
  }
  void EndEpilogue(int64_t end) {
    epilogue_end_ = std::max(epilogue_end_, end);
    ends_.push_back(end);
    if (ends_.size() > epilogues_) ends_.pop_front();
  }

  // When the next matmul may issue: vector work that is slower than the MXU,
  // epilogues and conversions, holds it back, and so do results that wait.
  int64_t MatmulWish(int mxu) const {
    return std::max(
        scheduler_.MatmulFree(mxu),
        std::max({epilogue_end_, conversions_.slow_end(), popped_[mxu]}) -
            arrays_.latency - kSlack);
  }

  int64_t Macro(int64_t visit) const { return visit / k_visits_; }
  int64_t K(int64_t visit) const {
    return visit % k_visits_ % k_tiles_ * plan_.tile_k;
  }
  const ProductPass& Pass(int64_t visit) const {
    return problem_.passes[visit % k_visits_ / k_tiles_];
  }
  int Stage(int64_t visit) const {
    return static_cast<int>(visit % b_.model().staging);
  }

  Lane LaneOf(int64_t visit, int x) const {
    if (x >= tile_.split_b * tile_.split_n * tile_.split_m) {
      Lane none;
      none.rows = -1;
      return none;
    }
    const int xm = x % tile_.split_m;
    const int xn = x / tile_.split_m % tile_.split_n;
    const int xb = x / (tile_.split_m * tile_.split_n);
    const int64_t macro = Macro(visit);
    Lane lane;
    lane.batch = macro / plan_.macros_n * tile_.split_b + xb;
    lane.col = (macro % plan_.macros_n * tile_.split_n + xn) * plan_.tile_n;
    lane.row = xm * plan_.groups * plan_.rows;
    lane.weights = xb * tile_.split_n + xn;
    lane.rows = xb * tile_.split_m + xm;
    lane.active = lane.batch < tile_.block_b && lane.col < tile_.block_n &&
                  lane.row < tile_.block_m &&
                  meetings_.Works(visit, lane.batch, lane.row);
    return lane;
  }

  // Have all MXUs that work in the visit latched its weights?
  bool HasLatched(int64_t visit) const {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      if (LaneOf(visit, mxu).active && latched_[mxu] != visit) return false;
    }
    return true;
  }

  // Everything in the builder's open block, placed at or after `wish`; the
  // last cycle. `key`: of the memory that its loads and stores touch.
  int64_t PlaceOpenBlock(int64_t wish, bool in_order = false,
                         int64_t key = -1) {
    const codegen::VNode block = b_.TakeBlock();
    int64_t end = wish;
    for (const VInstr& v : block.instrs) {
      const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
      end = std::max(
          end, scheduler_.Place(v, in_order ? end : wish, memory ? key : -1));
    }
    return end;
  }

  int64_t PlaceMxu(Opcode op, int mxu, Vec a, int64_t wish, int32_t imm = 0,
                   int32_t block = codegen::kNone,
                   int32_t stage = codegen::kNone) {
    VInstr v;
    v.op = op;
    v.unit = static_cast<uint8_t>(mxu);
    v.a = a.id;
    v.b = block;
    v.c = stage;
    v.imm = imm;
    return scheduler_.Place(v, wish);
  }

  // Pushes weight registers for the lanes that share them.
  void PushRows(int64_t visit, const std::vector<Vec>& y,
                const std::vector<Vec>& x, int row, int block, int weights,
                int64_t wish) {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = LaneOf(visit, mxu);
      if (!lane.active || lane.weights != weights) continue;
      for (size_t i = 0; i < y.size(); ++i) {
        if (!x.empty()) {
          PlaceMxu(Opcode::kVmatprepSubr, mxu, x[i], wish - kPrepAhead);
        }
        PlaceMxu(PushOf(problem_.numbers, arrays_.bf16, Pass(visit).rhs,
                        problem_.rhs.transposed),
                 mxu, y[i], wish, row + static_cast<int>(i) * arrays_.push_rows,
                 block, Stage(visit));
      }
    }
  }

  std::vector<Push> PushesOf(int64_t visit) const {
    const int64_t k0 = K(visit);
    const bool wide = arrays_.size == 256;
    const int k_blocks =
        plan_.tile_k == 256 && parts_.k_extent - k0 > 128 ? 2 : 1;
    std::vector<Push> pushes;
    for (int kb = 0; kb < k_blocks; ++kb) {
      const int64_t k = k0 + 128 * kb;
      const int64_t rows = problem_.rhs.transposed ? 128
                           : parts_.operands != nullptr
                               ? parts_.operands->RowsOfK(k)
                               : std::min<int64_t>(128, parts_.k_extent - k);
      for (int row = 0; row < rows; row += arrays_.unit) {
        std::array<bool, isa::kMaxUnits> done{};
        for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
          const Lane lane = LaneOf(visit, mxu);
          if (!lane.active || done[lane.weights]) continue;
          done[lane.weights] = true;
          Push push;
          push.lane = lane;
          push.k = k;
          push.row = row;
          if (wide) push.block = plan_.form == WeightForm::kFull ? 1 + kb : 3;
          push.two_columns = wide && plan_.form != WeightForm::kTwoRows &&
                             tile_.block_n - lane.col > 128;
          pushes.push_back(push);
        }
      }
    }
    return pushes;
  }

  void PushWeights(int64_t visit, const Push& push) {
    int64_t wish = 0;
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane other = LaneOf(visit, mxu);
      if (!other.active || other.weights != push.lane.weights) continue;
      wish = std::max(wish, scheduler_.PushFree(mxu, Stage(visit)));
    }
    const Lane& lane = push.lane;
    const auto load = [&](int64_t col) {
      b_.NewBlock();
      const int part = Pass(visit).rhs;
      const std::vector<Vec> regs =
          parts_.operands != nullptr
              ? parts_.operands->Weights(lane.batch, push.row, col, push.k)
          : problem_.rhs.transposed
              ? loader_.Load(parts_.rhs, lane.batch, col + push.row, push.k,
                             push.k, true, part)
              : loader_.Load(parts_.rhs, lane.batch, push.k + push.row, col,
                             push.k + push.row, false, part);
      PlaceOperand(parts_.rhs, problem_.rhs, part, wish);
      return regs;
    };
    const std::vector<Vec> y = load(lane.col);
    std::vector<Vec> x;
    if (plan_.form == WeightForm::kTwoRows) {
      x = y;
    } else if (push.two_columns) {
      x = load(lane.col + 128);
    }
    PushRows(visit, y, x, push.row, push.block, lane.weights, wish);
  }

  // The open block, which loads a register of rows for a matmul or push at
  // `wish`; the last cycle.
  int64_t PlaceOperand(const BlockPlace& place, const ProductOperand& operand,
                       int part, int64_t wish) {
    const int64_t end =
        PlaceOpenBlock(conversions_.Start(place, operand, part, wish));
    conversions_.End(end);
    return end;
  }

  // A register of rows for a matmul at `wish`.
  std::vector<Vec> LoadLhs(int64_t batch, int64_t row, int64_t k, int part,
                           int64_t wish) {
    b_.NewBlock();
    if (parts_.operands != nullptr) {
      const auto regs = parts_.operands->Lhs(batch, row, k);
      PlaceOpenBlock(std::max<int64_t>(0, wish - kLoadAhead));
      return regs;
    }
    const bool keeps = parts_.lhs.Converts() && plan_.macros_n > 1;
    const int64_t offset =
        keeps ? parts_.converted_lhs.Offset(batch, row, k) : 0;
    if (keeps && !converted_.insert(offset).second) {
      const auto regs =
          loader_.Load(parts_.converted_lhs, batch, row, k, k, true, 0);
      PlaceOpenBlock(std::max<int64_t>(0, wish - kLoadAhead), false,
                     kConvertedKeys + offset);
      return regs;
    }
    const auto regs = loader_.Load(parts_.lhs, batch, row, k, k, true, part);
    const int64_t at = PlaceOperand(parts_.lhs, problem_.lhs, part, wish);
    if (keeps) {
      b_.NewBlock();
      const BlockPlace& to = parts_.converted_lhs;
      if (regs.size() == 1) {
        b_.StoreStrided(to.space, to.base, static_cast<int32_t>(offset),
                        static_cast<int32_t>(to.row_pitch), 4, regs[0]);
      }
      for (size_t i = 0; regs.size() > 1 && i < regs.size(); ++i) {
        b_.Store(to.space, to.base,
                 static_cast<int32_t>(offset + i * to.row_pitch), regs[i]);
      }
      PlaceOpenBlock(at, false, kConvertedKeys + offset);
    }
    return regs;
  }

  // One group of LHS rows through every MXU.
  void Matmuls(int64_t visit, int64_t group) {
    struct Rows {
      bool loaded = false;
      std::vector<Vec> first, second;
    };
    std::array<Rows, isa::kMaxUnits> shared;
    const int64_t k = K(visit);
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = LaneOf(visit, mxu);
      const int64_t row = lane.row + group * plan_.rows;
      if (!lane.active || row >= tile_.block_m ||
          !meetings_.Meets(visit, lane.batch, row)) {
        continue;
      }
      int64_t wish = MatmulWish(mxu);
      const bool latches = latched_[mxu] != visit;
      latched_[mxu] = visit;
      if (latches) {
        wish = std::max(wish, scheduler_.LatchReady(mxu, Stage(visit)));
      }
      Rows& rows = shared[lane.rows];
      if (!rows.loaded) {
        rows.loaded = true;
        const auto load = [&](int64_t r, int64_t column) {
          return LoadLhs(lane.batch, r, column, Pass(visit).lhs, wish);
        };
        rows.first = load(row, k);
        if (plan_.form == WeightForm::kTwoColumns) {
          rows.second = rows.first;
        } else if (plan_.form == WeightForm::kTwoRows) {
          const int64_t next = row + arrays_.unit;
          if (next < tile_.block_m) rows.second = load(next, k);
        } else if (plan_.tile_k == 256 && parts_.k_extent - k > 128) {
          rows.second = load(row, k + 128);
        }
      }
      for (size_t i = 0; i < rows.first.size(); ++i) {
        if (!rows.second.empty()) {
          PlaceMxu(Opcode::kVmatprepMubr, mxu, rows.second[i],
                   wish - kPrepAhead);
        }
        const int32_t latch =
            latches && i == 0 ? Stage(visit) + 1 : codegen::kNone;
        PlaceMxu(MatmulOf(problem_.numbers, arrays_.bf16, Pass(visit).lhs), mxu,
                 rows.first[i], wish, 0, codegen::kNone, latch);
      }
    }
  }

  // Pops what Matmuls(visit, group) started.
  void Results(int64_t visit, int64_t group) {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = LaneOf(visit, mxu);
      const int64_t row = lane.row + group * plan_.rows;
      if (!lane.active || row >= tile_.block_m ||
          !meetings_.Meets(visit, lane.batch, row)) {
        continue;
      }
      const StreamMeetings::Span meeting =
          parts_.operands != nullptr ? meetings_.Of(lane.batch, row)
                                     : StreamMeetings::Span{0, k_visits_ - 1};
      const bool first = visit % k_visits_ == meeting.first && parts_.starts;
      const bool last = visit % k_visits_ == meeting.last && parts_.finishes;
      // Result registers come for 8 rows each, left columns, then right ones.
      for (int sixteen = 0; sixteen < arrays_.unit; sixteen += 16) {
        SixteenRows(mxu, lane, row, sixteen, first, last);
      }
    }
  }

  // The results of rows `sixteen` ... + 15 of a register of rows.
  void SixteenRows(int mxu, const Lane& lane, int64_t row, int sixteen,
                   bool first, bool last) {
    const int halves = arrays_.size / 128;
    std::array<std::vector<Vec>, 2> tiles;
    int64_t due = 0;
    for (int eight = 0; eight < 2; ++eight) {
      for (int half = 0; half < halves; ++half) {
        const Position at = PositionOf(lane, row, sixteen, half);
        due = PopWish(mxu);
        if (last && !puts_off_) due = std::max(due, EpilogueStart());
        const Vec sum = PopSum(mxu, at, eight, first, last && !puts_off_, due);
        if (at.wanted) tiles[half].push_back(sum);
      }
    }
    if (!last) return;
    for (int half = 0; half < halves; ++half) {
      const Position at = PositionOf(lane, row, sixteen, half);
      if (!at.wanted) continue;
      if (puts_off_) {
        late_.push_back(at);
        continue;
      }
      b_.NewBlock();
      epilogue_->Emit(lane.batch, at.row, at.col, tiles[half]);
      EndEpilogue(PlaceOpenBlock(due, parts_.pace.in_order));
    }
  }

  Position PositionOf(const Lane& lane, int64_t row, int sixteen,
                      int half) const {
    Position at;
    at.batch = lane.batch;
    at.row = row + sixteen;
    at.col = lane.col;
    if (plan_.form == WeightForm::kTwoRows) {
      at.row += arrays_.unit * half;
      at.wanted = at.row < tile_.block_m;
    } else {
      at.col += 128 * half;
      at.wanted = at.col < tile_.block_n;
    }
    return at;
  }

  // The open block: additions, and accesses of the sums at `offset`.
  void PlaceSums(int64_t wish, int64_t offset) {
    const codegen::VNode block = b_.TakeBlock();
    for (const VInstr& v : block.instrs) {
      const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
      sum_end_ = scheduler_.Place(v, wish, memory ? offset / 4096 : -1);
    }
  }

  // The next result of an MXU; sums of whole numbers as s32.
  Vec Pop(int mxu, bool wanted, int64_t* due) {
    Vec popped = b_.NewVec();
    VInstr pop;
    pop.op = problem_.numbers == ArrayNumbers::kS8 ? Opcode::kVpopMrfS32
                                                   : Opcode::kVpopMrfF32;
    pop.unit = static_cast<uint8_t>(mxu);
    pop.dst = popped.id;
    *due = popped_[mxu] = scheduler_.Place(pop, *due);
    if (!ConvertsSums(problem_) || !wanted) return popped;
    b_.NewBlock();
    popped = b_.Unary(Opcode::kVcvtS32F32, popped);
    *due = PlaceOpenBlock(*due);
    return popped;
  }

  // The next result with the sum so far added and, unless it is the last,
  // stored.
  Vec PopSum(int mxu, const Position& at, int eight, bool first, bool last,
             int64_t due) {
    const Vec popped = Pop(mxu, at.wanted, &due);
    if (!at.wanted || (first && last)) return popped;
    const BlockPlace& sums = parts_.sums;
    const int64_t offset = sums.Offset(at.batch, at.row + 8 * eight, at.col);
    const auto place = [&](int64_t wish) { PlaceSums(wish, offset); };
    Vec sum = popped;
    if (!first) {
      b_.NewBlock();
      const Vec so_far =
          b_.Load(sums.space, sums.base, static_cast<int32_t>(offset));
      place(due - 1);
      b_.NewBlock();
      sum = b_.Binary(problem_.integers ? Opcode::kVaddS32 : Opcode::kVaddF32,
                      popped, so_far);
      place(due);
    }
    if (!last) {
      b_.NewBlock();
      b_.Store(sums.space, sums.base, static_cast<int32_t>(offset), sum);
      place(due);
    }
    sums_lag_ = sum_end_ - due;
    return sum;
  }

  const ProductProblem& problem_;
  const ProductTile& tile_;
  const ArrayShape& arrays_;
  const StreamParts& parts_;
  Epilogue* epilogue_;
  CodeBuilder& b_;
  VisitPlan plan_;
  int64_t k_tiles_;
  int64_t k_visits_;  // of all passes over them
  OperandLoader loader_;
  StreamScheduler scheduler_;
  // Visits whose weights the MXUs hold.
  std::array<int64_t, isa::kMaxUnits> latched_;
  StreamMeetings meetings_;
  // Groups whose results are still in the MXUs: (visit, group).
  std::deque<std::pair<int64_t, int64_t>> pending_;
  int64_t in_flight_ = 1;
  int64_t epilogue_end_ = 0;
  std::deque<int64_t> ends_;                // of the latest epilogues
  absl::flat_hash_set<int64_t> converted_;  // offsets of LHS rows kept so far
  ConversionPace conversions_;
  std::array<int64_t, isa::kMaxUnits> popped_{};  // cycle of the last pop
  // The end of the latest sum, and how long after its pop.
  int64_t sum_end_ = 0, sums_lag_ = 0;
  bool puts_off_ = false;
  std::deque<Position> late_;  // finished sums whose epilogue was put off
  int64_t turn_ = 0;           // of LateEpilogues
  size_t epilogues_ = 1;       // that may run at once
};

}  // namespace

void EmitStream(const ProductProblem& problem, const ProductTile& tile,
                const ArrayShape& arrays, const StreamParts& parts,
                Epilogue* epilogue, CodeBuilder* b) {
  Stream(problem, tile, arrays, parts, epilogue, b).Emit();
}

}  // namespace ptxla::lowering

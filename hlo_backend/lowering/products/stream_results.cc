#include "hlo_backend/lowering/products/stream_results.h"

#include <algorithm>
#include <vector>

namespace ptxla::lowering::stream {
namespace {

using codegen::Vec;
using codegen::VInstr;
using isa::Opcode;

// An epilogue may lag behind the pops by so many cycles.
constexpr int64_t kSlack = 24;
// The last store of a sum may come so long after its pop.
constexpr int64_t kSumSlack = 12;

}  // namespace

Results::Results(const ProductProblem& problem, const ProductTile& tile,
                 const ArrayShape& arrays, const StreamParts& parts,
                 const Walk& walk, const Rows& rows, Epilogue* epilogue,
                 Code* code)
    : problem_(problem),
      arrays_(arrays),
      parts_(parts),
      walk_(walk),
      rows_(rows),
      epilogue_(epilogue),
      code_(*code),
      b_(code->builder()),
      lanes_(static_cast<int64_t>(tile.split_b) * tile.split_n * tile.split_m) {
  code_.KeepOrder(epilogue->ordered_space());
  epilogues_ = static_cast<size_t>(std::max(
      1.0, parts.pace.share * b_.model().vregs / epilogue->live_registers()));
  puts_off_ = parts.finishes && parts.pace.may_put_off && walk.k_visits() > 1 &&
              PutsOffEpilogue(problem, walk.plan(), lanes_, b_.model());
}

void Results::Turn() {
  turn_ += lanes_ * (arrays_.size / 128);
  while (turn_ >= walk_.k_visits()) {
    turn_ -= walk_.k_visits();
    if (!late_.empty()) LateEpilogue();
  }
}

void Results::Finish() {
  while (!late_.empty()) LateEpilogue();
  if (parts_.operands != nullptr && parts_.finishes) EmptySums();
}

void Results::LateEpilogue() {
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
  EndEpilogue(code_.PlaceOpenBlock(wish, parts_.pace.in_order));
}

void Results::EmptySums() {
  for (const Position& at : walk_.Empty()) {
    b_.NewBlock();
    const Vec zero = b_.Imm(0);
    epilogue_->Emit(at.batch, at.row, at.col, {zero, zero});
    EndEpilogue(code_.PlaceOpenBlock(EpilogueStart(), parts_.pace.in_order));
  }
}

// Until then conversions have the vector units nearly for themselves: a result
// popped before would wait in a register.
int64_t Results::VectorsFree() const { return rows_.slow_end() - kSlack; }

// When the next result of an MXU may be popped. Where the loads and stores of
// sums fall behind, pops wait for them: in a FIFO, not in registers.
int64_t Results::PopWish(int mxu) const {
  return std::max(code_.scheduler().ResultDue(mxu) +
                      std::max<int64_t>(0, sums_lag_ - kSumSlack),
                  VectorsFree());
}

// Only so many epilogues run at once: each holds registers.
int64_t Results::EpilogueStart() const {
  return std::max(VectorsFree(), ends_.size() < epilogues_ ? 0 : ends_.front());
}

void Results::EndEpilogue(int64_t end) {
  epilogue_end_ = std::max(epilogue_end_, end);
  ends_.push_back(end);
  if (ends_.size() > epilogues_) ends_.pop_front();
}

int64_t Results::MatmulWish(int mxu) const {
  return std::max(code_.scheduler().MatmulFree(mxu),
                  std::max({epilogue_end_, rows_.slow_end(), popped_[mxu]}) -
                      arrays_.latency - kSlack);
}

int64_t Results::Due(int64_t visit, int64_t group) const {
  int64_t due = 0;
  for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
    const Lane lane = walk_.LaneOf(visit, mxu);
    const int64_t row = lane.row + group * walk_.plan().rows;
    if (!walk_.Multiplies(visit, lane, row)) continue;
    due = std::max(due, code_.scheduler().ResultDue(mxu));
  }
  return due;
}

void Results::Take(int64_t visit, int64_t group) {
  for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
    const Lane lane = walk_.LaneOf(visit, mxu);
    const int64_t row = lane.row + group * walk_.plan().rows;
    if (!walk_.Multiplies(visit, lane, row)) continue;
    const bool first = walk_.First(visit, lane, row);
    const bool last = walk_.Last(visit, lane, row);
    // Result registers come for 8 rows each, left columns, then right ones.
    for (int sixteen = 0; sixteen < arrays_.unit; sixteen += 16) {
      SixteenRows(mxu, lane, row, sixteen, first, last);
    }
  }
}

// The results of rows `sixteen` ... + 15 of a register of rows.
void Results::SixteenRows(int mxu, const Lane& lane, int64_t row, int sixteen,
                          bool first, bool last) {
  const int halves = arrays_.size / 128;
  std::array<std::vector<Vec>, 2> tiles;
  int64_t due = 0;
  for (int eight = 0; eight < 2; ++eight) {
    for (int half = 0; half < halves; ++half) {
      const Position at = walk_.PositionOf(lane, row, sixteen, half);
      due = PopWish(mxu);
      if (last && !puts_off_) due = std::max(due, EpilogueStart());
      const Vec sum = PopSum(mxu, at, eight, first, last && !puts_off_, due);
      if (at.wanted) tiles[half].push_back(sum);
    }
  }
  if (!last) return;
  for (int half = 0; half < halves; ++half) {
    const Position at = walk_.PositionOf(lane, row, sixteen, half);
    if (!at.wanted) continue;
    if (puts_off_) {
      late_.push_back(at);
      continue;
    }
    b_.NewBlock();
    epilogue_->Emit(lane.batch, at.row, at.col, tiles[half]);
    EndEpilogue(code_.PlaceOpenBlock(due, parts_.pace.in_order));
  }
}

// The open block: additions, and accesses of the sums at `offset`.
void Results::PlaceSums(int64_t wish, int64_t offset) {
  sum_end_ = code_.PlaceLast(wish, offset / isa::kVregBytes);
}

// The next result of an MXU; sums of whole numbers as s32.
Vec Results::Pop(int mxu, bool wanted, int64_t* due) {
  Vec popped = b_.NewVec();
  VInstr pop;
  pop.op = problem_.numbers == ArrayNumbers::kS8 ? Opcode::kVpopMrfS32
                                                 : Opcode::kVpopMrfF32;
  pop.unit = static_cast<uint8_t>(mxu);
  pop.dst = popped.id;
  *due = popped_[mxu] = code_.scheduler().Place(pop, *due);
  if (!ConvertsSums(problem_) || !wanted) return popped;
  b_.NewBlock();
  popped = b_.Unary(Opcode::kVcvtS32F32, popped);
  *due = code_.PlaceOpenBlock(*due);
  return popped;
}

// The next result with the sum so far added and, unless it is the last, stored.
Vec Results::PopSum(int mxu, const Position& at, int eight, bool first,
                    bool last, int64_t due) {
  const Vec popped = Pop(mxu, at.wanted, &due);
  if (!at.wanted || (first && last)) return popped;
  const BlockPlace& sums = parts_.sums;
  const int64_t offset = sums.Offset(at.batch, at.row + 8 * eight, at.col);
  Vec sum = popped;
  if (!first) {
    b_.NewBlock();
    const Vec so_far =
        b_.Load(sums.space, sums.base, static_cast<int32_t>(offset));
    PlaceSums(due - 1, offset);
    b_.NewBlock();
    sum = b_.Binary(problem_.integers ? Opcode::kVaddS32 : Opcode::kVaddF32,
                    popped, so_far);
    PlaceSums(due, offset);
  }
  if (!last) {
    b_.NewBlock();
    b_.Store(sums.space, sums.base, static_cast<int32_t>(offset), sum);
    PlaceSums(due, offset);
  }
  sums_lag_ = sum_end_ - due;
  return sum;
}

}  // namespace ptxla::lowering::stream

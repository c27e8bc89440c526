#include "hlo_backend/lowering/products/row_schedule.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/products/stream_scheduler.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

// So many blocks show whether a pace fits: the passes repeat themselves.
constexpr size_t kSample = 1500;

bool Fits(const codegen::CodeBuilder& b, const codegen::VNode& placed) {
  codegen::RegisterBudget budget;
  for (int c = 0; c < isa::kNumRegClasses; ++c) {
    const int free = b.FreeGlobals(static_cast<isa::RegClass>(c));
    for (int k = 0; k < free; ++k) {
      budget.free[c].push_back(static_cast<uint8_t>(k));
    }
  }
  return codegen::AllocatePlaced(placed, b.registers(), b.model(), budget).ok();
}

}  // namespace

void RowSchedule::Add(bool paced) {
  pieces_.push_back({b_.TakeBlock(), paced});
}

std::vector<RowSchedule::Pace> RowSchedule::Paces() const {
  std::vector<Pace> paces;
  for (auto most = static_cast<size_t>(b_.model().vregs); most >= 1;
       most = most * 4 / 5) {
    paces.push_back({most, false});
    paces.push_back({most, true});
  }
  return paces;
}

codegen::VNode RowSchedule::Place(const Pace& pace, size_t pieces) const {
  codegen::StreamScheduler scheduler(b_);
  std::deque<int64_t> ends;  // of the blocks under way
  for (size_t n = 0; n < pieces; ++n) {
    const bool paced = pieces_[n].paced;
    const int64_t wish = ends.size() < pace.most ? 0 : ends.front();
    int64_t end = wish;
    bool waits = false;  // for the XLU: its registers are free
    for (const codegen::VInstr& v : pieces_[n].block.instrs) {
      const int64_t key = v.space == space_ ? v.imm / isa::kVregBytes : -1;
      const int64_t at =
          scheduler.Place(v, paced && pace.in_order ? end : wish, key);
      waits |= !paced && isa::Info(v.op).pops != isa::Fifo::kNone;
      if (!waits) end = std::max(end, at);
    }
    ends.push_back(end);
    if (ends.size() > pace.most) ends.pop_front();
  }
  return scheduler.Finish("rows");
}

void RowSchedule::Finish() {
  struct Choice {
    Pace pace;
    int64_t cycles;
  };
  // The fastest on a sample first.
  const size_t sample = std::min(kSample, pieces_.size());
  std::vector<Choice> choices;
  for (const Pace& pace : Paces()) {
    const codegen::VNode block = Place(pace, sample);
    if (Fits(b_, block)) choices.push_back({pace, block.length});
  }
  std::stable_sort(
      choices.begin(), choices.end(),
      [](const Choice& x, const Choice& y) { return x.cycles < y.cycles; });
  codegen::VNode all;
  for (const Choice& choice : choices) {
    all = Place(choice.pace, pieces_.size());
    if (Fits(b_, all)) break;
  }
  if (choices.empty()) all = Place({1, true}, pieces_.size());
  b_.Append(std::move(all));
  pieces_.clear();
}

}  // namespace ptxla::lowering

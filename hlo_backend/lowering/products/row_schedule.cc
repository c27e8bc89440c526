#include "hlo_backend/lowering/products/row_schedule.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/products/stream_scheduler.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

// So many blocks show whether a pace fits: the passes repeat themselves.
constexpr size_t kSample = 1500;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

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

std::optional<codegen::VNode> RowSchedule::Place(const Pace& pace,
                                                 size_t pieces,
                                                 int64_t limit) const {
  codegen::StreamScheduler scheduler(b_);
  std::deque<int64_t> ends;  // of the blocks under way
  for (size_t n = 0; n < pieces && scheduler.cycles() < limit; ++n) {
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
  if (scheduler.cycles() >= limit) return std::nullopt;
  return scheduler.Finish("rows");
}

void RowSchedule::Finish() {
  struct Choice {
    Pace pace;
    codegen::VNode block;  // of the sample
  };
  const size_t sample = std::min(kSample, pieces_.size());
  const bool is_all = sample == pieces_.size();
  // Of a sample all that fit: the whole may not.
  std::vector<Choice> fitting;
  for (const Pace& pace : Paces()) {
    const int64_t limit =
        is_all && !fitting.empty() ? fitting.back().block.length : kNoLimit;
    std::optional<codegen::VNode> block = Place(pace, sample, limit);
    if (!block.has_value() || !Fits(b_, *block)) continue;
    fitting.push_back({pace, *std::move(block)});
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const Choice& x, const Choice& y) {
                     return x.block.length < y.block.length;
                   });
  codegen::VNode all;
  for (Choice& choice : fitting) {
    all = is_all ? std::move(choice.block)
                 : *Place(choice.pace, pieces_.size(), kNoLimit);
    if (is_all || Fits(b_, all)) break;
  }
  if (fitting.empty()) all = *Place({1, true}, pieces_.size(), kNoLimit);
  b_.Append(std::move(all));
  pieces_.clear();
}

}  // namespace ptxla::lowering

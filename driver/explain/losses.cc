#include "driver/explain/losses.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/units.h"

namespace ptxla::driver {
namespace {

using isa::CycleCause;
using isa::Slot;

const char* SlotText(Slot slot) {
  switch (slot) {
    case Slot::kVector:
      return "vector ALU";
    case Slot::kEup:
      return "EUP";
    case Slot::kXlu:
      return "XLU";
    case Slot::kLoad:
      return "load";
    case Slot::kStore:
      return "store";
    case Slot::kMxu:
      return "MXU issue";
    case Slot::kPop:
      return "result pop";
    default:
      return "misc";
  }
}

class Losses {
 public:
  void Add(const std::string& cause, int64_t cycles, const std::string& what) {
    if (cycles == 0) return;
    record::Loss loss;
    loss.set_cause(cause);
    loss.set_cycles(cycles);
    loss.set_what(what);
    list_.push_back(std::move(loss));
  }
  std::vector<record::Loss> Sorted() && {
    std::stable_sort(list_.begin(), list_.end(),
                     [](const record::Loss& a, const record::Loss& b) {
                       const bool x = a.cause() == "useful";
                       const bool y = b.cause() == "useful";
                       if (x != y) return x;
                       return a.cycles() > b.cycles();
                     });
    return std::move(list_);
  }

 private:
  std::vector<record::Loss> list_;
};

// "epilogue 120, convert 40": the labels of blocks that do not use the unit.
std::string OtherBlocks(const sim::KernelAccount& a) {
  std::map<std::string, int64_t> cycles;
  const auto take = [&](const isa::CodeAccount& code, int64_t times) {
    for (const isa::CodePart& p : code.parts) {
      const int64_t n = p.once[CycleCause::kOther] * p.times * times;
      if (n > 0) cycles[p.block->label] += n;
    }
  };
  take(a.entry, 1);
  take(a.exit, 1);
  for (const auto& s : a.steps) take(s.code, s.steps);
  std::vector<std::pair<int64_t, std::string>> most;
  for (const auto& [label, n] : cycles) most.emplace_back(-n, label);
  std::sort(most.begin(), most.end());
  if (most.size() > 3) most.resize(3);
  return absl::StrJoin(most, ", ", [](std::string* out, const auto& m) {
    absl::StrAppend(out, m.second.empty() ? "?" : m.second, " ", -m.first);
  });
}

}  // namespace

std::vector<record::Loss> LossesOf(const sim::KernelAccount& a,
                                   const isa::MachineModel& machine,
                                   const OpWork& work) {
  Losses losses;
  const std::string unit = a.main.Name();
  const isa::CycleCauses& code = a.code;
  // Cycles with the unit taken: as many as all its ways together need, and
  // those in which some had nothing to do.
  const int64_t taken = code[CycleCause::kWork];
  const int ways = a.main.Ways(machine);
  const int64_t needed =
      std::min(taken, CeilOfRatio<int64_t>(a.main.Busy(a.use), ways));
  const int64_t useful =
      work.useful_cycles < 0 ? needed : std::min(needed, work.useful_cycles);
  losses.Add("useful", useful,
             absl::StrCat(unit, " at its peak on what was asked for"));
  losses.Add("padding", needed - useful,
             absl::StrCat(unit,
                          " on padding: blocks beyond the array, tiles "
                          "beyond the block, extra passes"));
  losses.Add("part_filled", taken - needed,
             absl::StrCat("some of the ", ways, " ", unit,
                          " idle while another works"));
  losses.Add("weight_load", code[CycleCause::kWeights],
             "MXU idle while weights are pushed into it");
  losses.Add("fill", code[CycleCause::kFill],
             absl::StrCat("until a block's first operands reach the ", unit));
  losses.Add("drain", code[CycleCause::kDrain],
             absl::StrCat("from a block's last use of the ", unit,
                          " to its last store"));
  for (int s = 0; s < isa::kNumSlots; ++s) {
    std::string key(isa::Name(static_cast<Slot>(s)));
    losses.Add(absl::StrCat("issue_", key), code.issue[s],
               absl::StrCat("no free ", SlotText(static_cast<Slot>(s)),
                            " slot in the bundle, ", unit, " idle"));
  }
  losses.Add("results", code[CycleCause::kResults],
             absl::StrCat(unit,
                          " idle until results are ready (latency, "
                          "unit intervals)"));
  losses.Add("other_blocks", code[CycleCause::kOther],
             absl::StrCat("code that does not use it: ", OtherBlocks(a)));
  const int64_t frame =
      a.entry.total[CycleCause::kControl] + a.exit.total[CycleCause::kControl];
  losses.Add("kernel_overhead", frame,
             "entry and exit: descriptors, addresses, first starts");
  losses.Add("step_overhead", code[CycleCause::kControl] - frame,
             absl::StrCat("control of ", a.grid_steps,
                          " grid steps: starts, waits, indices, branches"));
  losses.Add("first_load", a.waits.first_load,
             "wait for the blocks of the first step, which nothing hides");
  losses.Add("load_wait", a.waits.loads,
             "wait for later blocks: HBM is slower than the code");
  losses.Add("store_wait", a.waits.stores,
             "wait for a slot that is still being written back");
  losses.Add("last_store", a.waits.last_store,
             "wait for the last blocks to be written");
  losses.Add("dma_wait", a.waits.semaphores, "wait for explicit transfers");
  losses.Add("overlap", work.cycles - a.cycles,
             "HBM shared with copies and collectives under way");
  return std::move(losses).Sorted();
}

}  // namespace ptxla::driver

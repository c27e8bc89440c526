#include "hlo_backend/lowering/codegen/allocate_registers.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/local_registers.h"

namespace ptxla::codegen {
namespace {

class Allocator {
 public:
  Allocator(absl::Span<const VInstr> instrs,
            absl::Span<const VRegister> registers, const LocalReads& reads,
            const isa::MachineModel& model, const RegisterBudget& budget,
            BlockSchedule* schedule)
      : instrs_(instrs),
        locals_(registers),
        model_(model),
        schedule_(*schedule),
        all_reads_(reads),
        reads_(reads.count),
        free_(budget.free) {}

  absl::Status Run() {
    const int32_t first = all_reads_.first_written;
    const int32_t last = all_reads_.last_written;
    if (last < 0) return absl::OkStatus();
    schedule_.first_local = first;
    schedule_.physical.assign(last - first + 1, isa::kNoReg);
    const auto& order = schedule_.order;
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin;
      while (end < order.size() && order[end].first == order[begin].first) {
        ++end;
      }
      Landed(order[begin].first);
      for (size_t k = begin; k < end; ++k) Read(instrs_[order[k].second]);
      for (size_t k = begin; k < end; ++k) {
        const absl::Status status =
            Write(instrs_[order[k].second], order[k].first);
        if (!status.ok()) return status;
      }
      begin = end;
    }
    return absl::OkStatus();
  }

 private:
  // Registers of which the last write lands by this cycle.
  void Landed(int32_t cycle) {
    while (!landing_.empty() && std::get<0>(landing_.top()) <= cycle) {
      const auto [when, cls, reg] = landing_.top();
      landing_.pop();
      free_[cls].push_back(reg);
    }
  }

  void Read(const VInstr& v) {
    locals_.ForEachRead(v, [&](int32_t reg) {
      if (--reads_[reg - all_reads_.range.first] > 0) return;
      free_[locals_.ClassOf(reg)].push_back(
          schedule_.physical[reg - schedule_.first_local]);
    });
  }

  absl::Status Write(const VInstr& v, int32_t cycle) {
    if (!locals_.Writes(v)) return absl::OkStatus();
    const FieldClasses& f = FieldsOf(v.op);
    auto& list = free_[f.dst];
    if (list.empty()) {
      static constexpr const char* kNames[] = {"vector", "scalar", "mask",
                                               "predicate"};
      return absl::ResourceExhaustedError(
          absl::StrCat("out of ", kNames[f.dst], " registers in a block"));
    }
    const uint8_t reg = list.back();
    list.pop_back();
    schedule_.physical[v.dst - schedule_.first_local] = reg;
    if (reads_[v.dst - all_reads_.range.first] == 0) {
      const int latency = std::max(isa::LatencyOf(Shell(v), model_), 1);
      landing_.push({cycle + latency, f.dst, reg});
    }
    return absl::OkStatus();
  }

  absl::Span<const VInstr> instrs_;
  const LocalRegisters locals_;
  const isa::MachineModel& model_;
  BlockSchedule& schedule_;
  const LocalReads& all_reads_;
  std::vector<int> reads_;  // still to come
  std::array<std::vector<uint8_t>, isa::kNumRegClasses> free_;
  // (cycle, class, physical register) of results that nobody reads.
  using Landing = std::tuple<int32_t, int8_t, uint8_t>;
  std::priority_queue<Landing, std::vector<Landing>, std::greater<>> landing_;
};

}  // namespace

absl::Status AllocateRegisters(absl::Span<const VInstr> instrs,
                               absl::Span<const VRegister> registers,
                               const LocalReads& reads,
                               const isa::MachineModel& model,
                               const RegisterBudget& budget,
                               BlockSchedule* schedule) {
  return Allocator(instrs, registers, reads, model, budget, schedule).Run();
}

}  // namespace ptxla::codegen

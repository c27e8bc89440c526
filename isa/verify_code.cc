#include "isa/verify_code.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "isa/asm.h"
#include "isa/bank_tracker.h"
#include "isa/broken.h"
#include "isa/pipeline.h"
#include "isa/timing.h"

namespace ptxla::isa {
namespace {

// About how long it runs; without overflow.
double CyclesOf(const Code& code) {
  double cycles = 0;
  for (const Node& node : code) {
    if (const Block* block = node.block()) cycles += block->Cycles();
    if (const When* when = node.when()) cycles += CyclesOf(when->body);
    if (const Loop* loop = node.loop()) {
      cycles += static_cast<double>(loop->trips) * (CyclesOf(loop->body) + 8);
    }
  }
  return cycles;
}

class CodeVerifier {
 public:
  CodeVerifier(const Kernel& kernel, bool in_step, uint32_t flags,
               const MachineModel& machine)
      : kernel_(kernel),
        in_step_(in_step),
        flags_(flags),
        machine_(machine),
        pipeline_(machine),
        banks_(kernel, machine) {}

  absl::Status Verify(const Code& code) {
    // Far beyond any step, and far below what cycles can count.
    if (CyclesOf(code) > 1e15) {
      return absl::InternalError("the code runs for more than 1e15 cycles");
    }
    RETURN_IF_ERROR(Walk(code));
    RETURN_IF_ERROR(bank_status_);
    RETURN_IF_ERROR(pipeline_.CheckDrained()) << "at the end";
    return absl::OkStatus();
  }

 private:
  absl::Status Walk(const Code& code) {
    for (const Node& node : code) {
      if (const Block* block = node.block()) {
        RETURN_IF_ERROR(WalkBlock(*block));
      } else if (const Loop* loop = node.loop()) {
        RETURN_IF_ERROR(WalkLoop(*loop));
      } else if (const When* when = node.when()) {
        if (!in_step_) return absl::InternalError("`when` is for steps only");
        const bool shared =
            when->dim == kCoreShare && kernel_.megacore_dim >= 0;
        if (when->dim < 0 || (when->dim >= kernel_.grid.size() && !shared)) {
          return absl::InternalError(
              absl::StrCat("`when` names grid dimension ", when->dim));
        }
        if (Holds(*when, flags_)) {
          RETURN_IF_ERROR(Walk(when->body));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status WalkBlock(const Block& block) {
    for (int b = 0; b < block.NumBundles(); ++b) {
      const auto place = [&] {
        return absl::StrCat("block \"", block.label, "\" bundle ", b);
      };
      absl::Status status = WalkBundle(block.Bundle(b));
      if (!status.ok()) return AddContext(status, place());
      status = banks_.CheckLoads(block.Bundle(b));
      if (!status.ok() && bank_status_.ok()) {
        bank_status_ = AddContext(status, place());
      }
      banks_.Apply(block.Bundle(b));
    }
    return absl::OkStatus();
  }

  absl::Status WalkBundle(absl::Span<const Instr> bundle) {
    for (const Instr& instr : bundle) RETURN_IF_ERROR(CheckInstr(instr));
    return pipeline_.Issue(bundle);
  }

  absl::Status CheckIndex(const Instr& instr, int64_t index, size_t size) {
    if (index >= 0 && index < static_cast<int64_t>(size)) {
      return absl::OkStatus();
    }
    return BrokenAt(instr,
                    absl::StrCat("the kernel has only ", size, " of these"));
  }

  absl::Status CheckInstr(const Instr& instr) {
    const InstrInfo& info = Info(instr.op);
    if (instr.guard != 0 &&
        (info.pushes != Fifo::kNone || info.pops != Fifo::kNone ||
         IsDma(instr.op) || (info.slots & Bit(Slot::kMxu)) != 0)) {
      return BrokenAt(instr,
                      "an instruction with a FIFO or a DMA has no guard");
    }
    if (loop_counters_ >> (instr.dst & 63) & 1) {
      const RegUses uses = UsesOf(instr);
      if (uses.has_write && uses.write.cls == RegClass::kScalar) {
        return BrokenAt(instr, "writes the counter of a loop around it");
      }
    }
    for (Operand operand : info.operands) {
      switch (operand) {
        case Operand::kWindow:
          RETURN_IF_ERROR(CheckIndex(instr, instr.imm, kernel_.windows.size()));
          if (IsDma(instr.op) &&
              IsResident(kernel_, kernel_.windows[instr.imm])) {
            return BrokenAt(instr, "the window's argument is not copied");
          }
          break;
        case Operand::kDescriptor:
          RETURN_IF_ERROR(
              CheckIndex(instr, instr.imm, kernel_.descriptors.size()));
          break;
        case Operand::kArg:
          RETURN_IF_ERROR(CheckIndex(instr, instr.imm, kernel_.args.size()));
          break;
        case Operand::kSemaphore:
          RETURN_IF_ERROR(CheckIndex(instr, instr.imm, kernel_.num_semaphores));
          break;
        case Operand::kGroup:
          if (instr.c < 1 || instr.c > kSublanes) {
            return BrokenAt(instr, "group is not 1 to 8");
          }
          break;
        default:
          break;
      }
    }
    if (instr.op == Opcode::kSgrid) {
      RETURN_IF_ERROR(CheckIndex(instr, instr.imm, kernel_.grid.size()));
    }
    if (instr.op == Opcode::kSwinlen) {
      RETURN_IF_ERROR(CheckIndex(instr, instr.imm2,
                                 kernel_.windows[instr.imm].dims.size()));
    }
    return absl::OkStatus();
  }

  // Reads the body until the pipeline and what is known of addresses repeat:
  // from then on every iteration is like the last one read.
  absl::Status WalkLoop(const Loop& loop) {
    if (loop.trips < 0) return absl::InternalError("a negative trip count");
    if (loop.counter != kNoReg && loop.counter >= machine_.sregs) {
      return absl::InternalError(
          absl::StrCat("the chip has no s", loop.counter, " to count a loop"));
    }
    if (loop.count != kNoReg && loop.count >= machine_.sregs) {
      return absl::InternalError(
          absl::StrCat("the chip has no s", loop.count, " to end a loop"));
    }
    // Data may ask for more iterations than timing assumes.
    const int64_t most =
        loop.count == kNoReg ? loop.trips : std::numeric_limits<int64_t>::max();
    const uint64_t outer = loop_counters_;
    if (loop.counter != kNoReg) loop_counters_ |= uint64_t{1} << loop.counter;
    const std::vector<int> sizes = pipeline_.FifoSizes();
    BankTracker::State head = banks_.state();
    uint64_t unknown = 0;  // registers that differ between iterations
    if (loop.counter != kNoReg) head[loop.counter] = banks_.Fresh();
    // Bank conflicts count if they hold in every iteration: those of the last
    // one read, in which registers that move are unknown.
    const absl::Status bank_status = bank_status_;
    std::vector<int32_t> signature;
    for (int64_t i = 0; i < most; ++i) {
      bank_status_ = bank_status;
      banks_.set_state(head);
      const int64_t begin = pipeline_.now();
      RETURN_IF_ERROR(Walk(loop.body));
      const int64_t least = 1 + machine_.branch_delay_slots;
      pipeline_.Stall(std::max<int64_t>(0, begin + least - pipeline_.now()));
      if (pipeline_.FifoSizes() != sizes) {
        return absl::InternalError(
            "a loop body pushes and pops different numbers of results");
      }
      const bool settled = Join(loop.counter, &unknown, &head);
      std::vector<int32_t> next = pipeline_.Signature();
      const bool repeats = next == signature && settled;
      signature = std::move(next);
      if (repeats) break;
    }
    if (loop.count != kNoReg) banks_.set_state(head);  // or for none
    if (loop.counter != kNoReg) banks_.Forget(loop.counter);
    loop_counters_ = outer;
    return absl::OkStatus();
  }

  // Makes `head` hold at the start of every iteration so far and of the next.
  // True if it did already.
  bool Join(uint8_t counter, uint64_t* unknown, BankTracker::State* head) {
    const uint64_t before = *unknown;
    for (int r = 0; r < head->size(); ++r) {
      if (r == counter || (before >> r & 1) != 0) continue;
      if (banks_.state()[r] == (*head)[r]) continue;
      (*head)[r] = banks_.Fresh();
      *unknown |= uint64_t{1} << r;
    }
    return *unknown == before;
  }

  const Kernel& kernel_;
  const bool in_step_;
  const uint32_t flags_;
  const MachineModel& machine_;
  Pipeline pipeline_;
  BankTracker banks_;
  absl::Status bank_status_;  // the first conflict
  uint64_t loop_counters_ = 0;
};

}  // namespace

absl::Status VerifyCode(const Kernel& kernel, const Code& code, uint32_t flags,
                        const MachineModel& machine) {
  return CodeVerifier(kernel, &code == &kernel.step, flags, machine)
      .Verify(code);
}

}  // namespace ptxla::isa

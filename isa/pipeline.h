// The exposed pipeline's rules as a state that bundles are issued into: what
// the verifier walks statically and the interpreter checks as it runs.
//
//   Pipeline pipeline(machine);
//   RETURN_IF_ERROR(pipeline.Issue(bundle));   // at pipeline.now(), advances
//   pipeline.Stall(20);
//   pipeline.Drained()                          // nothing in flight
//
// Errors are Internal and say which instruction breaks which rule.
#ifndef PTXLA_ISA_PIPELINE_H_
#define PTXLA_ISA_PIPELINE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "isa/instruction.h"
#include "isa/machine_model.h"

namespace ptxla::isa {

class Pipeline {
 public:
  // `machine` must outlive it.
  explicit Pipeline(const MachineModel& machine);

  // Issues the bundle at now() and advances by BundleCycles().
  absl::Status Issue(absl::Span<const Instr> bundle);
  // A DMA wait or an empty branch delay slot: time passes.
  void Stall(int64_t cycles) { now_ += cycles; }

  int64_t now() const { return now_; }
  // Ok if every register is readable, every unit free, every FIFO empty and no
  // transpose or matprep is half done.
  absl::Status CheckDrained() const;
  // Results waiting in all FIFOs.
  std::vector<int> FifoSizes() const;
  // The state relative to now(): equal signatures behave alike from here on.
  std::vector<int32_t> Signature() const;

 private:
  struct Result {
    int64_t ready;
    Opcode producer;
  };
  // A queue in a vector: popped entries stay in front until it is empty.
  struct Queue {
    std::vector<Result> results;
    size_t head = 0;
    int64_t last_ready = 0;
    int size() const { return static_cast<int>(results.size() - head); }
  };
  struct XluStream {
    bool open = false;
    int64_t first = 0;
  };
  struct MxuState {
    bool subr = false;
    bool mubr = false;
    int64_t subr_ready = 0;
    int64_t mubr_ready = 0;
    std::array<int64_t, 2> latch_ready{};  // earliest latch after a push
    std::array<int64_t, 2> push_ready{};   // earliest push after a latch
  };

  absl::Status CheckSlots(absl::Span<const Instr> bundle) const;
  absl::Status CheckWrites(absl::Span<const Instr> bundle) const;
  absl::Status CheckOperands(const Instr& instr) const;
  absl::Status IssueOne(const Instr& instr);
  absl::Status TakeUnit(const Instr& instr);
  absl::Status Pop(const Instr& instr);
  void PushResults(const Instr& instr);
  absl::Status IssueMxu(const Instr& instr);
  absl::Status IssueTranspose(const Instr& instr);
  absl::Status Write(const Instr& instr, const RegRef& reg);

  Queue& queue(Fifo fifo, int unit) {
    return queues_[static_cast<int>(fifo) * kMaxUnits + unit];
  }

  const MachineModel& machine_;
  int64_t now_ = 0;
  std::array<std::array<int64_t, 64>, kNumRegClasses> reg_ready_{};
  std::array<std::array<int64_t, kMaxUnits>, kNumUnits> unit_free_{};
  std::array<Queue, kNumFifos * kMaxUnits> queues_;
  std::array<XluStream, kMaxUnits> streams_;
  std::array<MxuState, kMaxUnits> mxus_;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_PIPELINE_H_

// Places the instructions of an MXU stream: each in the first bundle at or
// after its wished cycle where its operands, units, FIFOs and slots are free.
//
// A list scheduler by longest path would issue every load at once. A stream
// knows better: the caller says when it wants each instruction (a load just
// before its matmul, a pop when its result is due), in an order in which FIFOs
// and units are used, and the placement keeps that rhythm. Linear time.
//
//   StreamScheduler s(builder);
//   s.Place(load, /*wish=*/14);
//   int64_t at = s.Place(matmul, 16);
//   VNode block = s.Finish("matmul");
//
// Rules, as isa/verifier.h proves them: slots per bundle, loads + stores +
// misc, VMEM banks, intervals of a unit (which also keep its instructions in
// the order of placement), latency of registers and FIFOs, matprep before its
// own push or matmul, pushes and latches of one staging register in turn.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_SCHEDULER_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_SCHEDULER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/bundle_resources.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "hlo_backend/lowering/products/fifo_pairs.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

class StreamScheduler {
 public:
  // Registers are the builder's.
  explicit StreamScheduler(const CodeBuilder& builder)
      : model_(builder.model()), builder_(builder), bundles_(model_) {}

  // The cycle it was given. Loads and stores with the same `memory_key` >= 0
  // touch the same bytes; others are independent of each other.
  int64_t Place(const VInstr& v, int64_t wish, int64_t memory_key = -1);

  // A push into the FIFO of a unit that computes by itself (the EUP) and the
  // pop of its result: their cycles. Other than by Place, they may go in front
  // of pairs that were placed before.
  FifoPairs::Pair PlacePair(const VInstr& push, const VInstr& pop,
                            int64_t wish);

  // Cycle at which the registers that it reads have landed.
  int64_t OperandsReady(const VInstr& v) const;

  // First cycle at which a matmul of this MXU could issue, its weights pushed.
  int64_t MatmulFree(int mxu) const { return mxu_[mxu].matmul_free; }
  // First cycle at which an XLU takes another register.
  int64_t XluFree(int xlu) const {
    return unit_free_[static_cast<int>(isa::ExecUnit::kXlu) * isa::kMaxUnits +
                      xlu];
  }
  // First cycle at which weights may be pushed into the staging register.
  int64_t PushFree(int mxu, int stage) const;
  // First cycle at which a matmul may latch what has been pushed into it.
  int64_t LatchReady(int mxu, int stage) const {
    return mxu_[mxu].latchable[stage];
  }
  // Cycle at which the next result of this MXU is due. There must be one.
  int64_t ResultDue(int mxu) const { return mxu_[mxu].due.front(); }

  int64_t cycles() const { return end_; }
  size_t size() const { return placed_.size(); }
  // The block; all that was started has landed at its end.
  VNode Finish(const char* label);

 private:
  struct MxuState {
    int64_t matmul_free = 0;
    std::array<int64_t, 2> latchable{};  // last push + its latency to a latch
    std::array<int64_t, 2> stage_free{};
    int64_t last_push = -1, last_matmul = -1;
    int64_t prep_lhs = -1, prep_weights = -1;  // of the pending operand
    std::deque<int64_t> due;
  };
  struct Touched {
    int64_t load = -1, store = -1;
  };
  struct Placed {
    int64_t cycle;
    VInstr instr;
  };

  int64_t Earliest(const VInstr& v, const isa::InstrInfo& info,
                   int64_t memory_key);
  void NoteReads(const VInstr& v, int64_t cycle);
  void Commit(const VInstr& v, const isa::Instr& shell,
              const isa::InstrInfo& info, int64_t cycle, int64_t memory_key);
  int64_t& UnitFree(isa::ExecUnit unit, int number);
  std::deque<int64_t>& FifoDue(isa::Fifo fifo, int number);
  static int64_t Of(const std::vector<int64_t>& cycles, int32_t reg) {
    return reg < static_cast<int32_t>(cycles.size()) ? cycles[reg] : 0;
  }
  int64_t& At(std::vector<int64_t>* cycles, int32_t reg);
  int64_t& LastPop(isa::Fifo fifo, int number);  // by Place
  FifoPairs& Pairs(isa::Fifo fifo, int number);
  int64_t FirstFit(const VInstr& v, int64_t from, int64_t end);
  void Put(const VInstr& v, int64_t cycle);

  const isa::MachineModel& model_;
  const CodeBuilder& builder_;
  std::vector<Placed> placed_;
  BundleResources bundles_;
  std::array<MxuState, isa::kMaxUnits> mxu_;
  std::array<int64_t, isa::kNumUnits * isa::kMaxUnits> unit_free_{};
  std::array<std::deque<int64_t>, isa::kNumFifos * isa::kMaxUnits> fifo_due_;
  std::array<int64_t, isa::kNumFifos * isa::kMaxUnits> last_pop_{};
  std::array<FifoPairs, isa::kNumFifos * isa::kMaxUnits> pairs_;
  // By register; those beyond the end: 0.
  std::vector<int64_t> ready_;
  std::vector<int64_t> last_read_;  // of globals
  absl::flat_hash_map<int64_t, Touched> touched_;
  int64_t end_ = 0;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_SCHEDULER_H_

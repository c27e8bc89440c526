// The state of a loop, element by element: where each may lie
// while the loop runs, and that it does (loop_residency.h).
//
//   LoopState loop(instruction);
//   if (loop.IsPlain() && loop.VmemBytes(2) > 0) loop.PlaceInVmem(2);
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_STATE_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_STATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {

class LoopState {
 public:
  explicit LoopState(Instruction* loop)
      : loop_(loop),
        init_(loop->operand(0)),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  // Everybody takes the state apart, and a tuple that nobody else reads begins
  // it.
  bool IsPlain() const;
  int state_size() const { return init_->operand_count(); }
  Instruction* start(int k) const { return init_->operand(k); }
  void set_start(int k, Instruction* value) { init_->ReplaceOperand(k, value); }

  // Bytes of VMEM that element k would take; 0: it cannot lie there.
  int64_t VmemBytes(int k) const;
  // Is element k, of which an iteration moves all `times`, or planes, a better
  // use of the room than what the iteration itself makes and reads?
  bool IsWorth(const chips::ChipSpec& chip, int k, int64_t bytes, int times,
               int64_t room) const;
  // Who makes what goes into the loop; null: no kernel.
  const Instruction* StartMaker(int k) const;
  // Who makes it for the next iteration.
  const Instruction& NextMaker(int k) const;
  // An iteration writes planes of it, whole ones, and reads none.
  bool OnlyFillsPlanes(int k) const;
  // Bytes of VMEM that element k would take, which the loop only reads; 0: it
  // cannot lie there.
  int64_t ReadOnlyBytes(int k) const;

  // Brings it there; NameVmem says so in the loop.
  void StartInVmem(int k);
  void PlaceInVmem(int k) { Move(k, kMemoryVmem); }
  // Element k comes in VMEM and is only read: its names say so.
  bool NameVmem(int k);
  // Results that leave VMEM: element -> its reader outside.
  std::vector<Instruction*> Leaving(int k) const;
  // Something else than kernels and loops has the result.
  bool IsHandedOut(int k) const;

 private:
  bool IsHandedOn(int k) const;
  // Of all planes of element k that an iteration slices or updates; nothing: it
  // has it whole.
  std::optional<int64_t> PlaneBytes(int k) const;
  // A kernel makes what goes into the loop, for it and perhaps other kernels.
  bool StartsInVmem(int k) const;
  // Not by `root`, but `except` may.
  static bool ReadByKernels(const Instruction& state, int k,
                            const Instruction* root,
                            const Instruction* except = nullptr);
  static bool ValueReadByKernels(const Instruction& value, int k,
                                 const Instruction* root,
                                 const Instruction* except);
  // What names element k of the state outside of the next one.
  void MoveNames(int k, int space);
  void Move(int k, int space);

  Instruction* loop_;
  Instruction* init_;
  Computation* body_;
  Computation* condition_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_STATE_H_

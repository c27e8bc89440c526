// The order of pushes and pops of a block: the i-th result of a unit's FIFO in
// source order belongs to the i-th pop.
//
//   FifoOrder(instrs, model, &graph).Pair();
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_ORDER_H_

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

class FifoOrder {
 public:
  // Nodes of `graph` are described. All must outlive it.
  FifoOrder(absl::Span<const VInstr> instrs, const isa::MachineModel& model,
            Graph* graph)
      : instrs_(instrs), model_(model), graph_(graph) {}

  // Pushes stay in order, and so do pops: those of earlier and later blocks
  // belong together.
  void Chain();
  // A pop waits for its push, which is in this block.
  void Pair();

 private:
  // A join before `i`: the results of a transpose and of those before it (`-1`:
  // none) are out.
  int Drained(int push, int start, int before, int i);

  absl::Span<const VInstr> instrs_;
  const isa::MachineModel& model_;
  Graph* graph_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_ORDER_H_

// Walks the instructions of a scheduled module and writes what the machine is
// to do: calls of kernels, copies, collectives, loops and branches.
//
//   ASSIGN_OR_RETURN(isa::Program p,
//                    Lowerer(module, placement, chip, options).Run(&stats));
//
// One file a kind of entry: calls.cc, copies.cc, collectives.cc,
// control_flow.cc; values.cc says where values lie.
#ifndef PTXLA_HLO_BACKEND_LOWERING_SCHEDULE_LOWERER_H_
#define PTXLA_HLO_BACKEND_LOWERING_SCHEDULE_LOWERER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "chips/chip_spec.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/lowering/kernel_jobs.h"
#include "hlo_backend/lowering/lowering.h"
#include "isa/machine_model.h"
#include "isa/program.h"

namespace ptxla::lowering {

class Lowerer {
 public:
  Lowerer(const hlo::Module& module, const Placement& placement,
          const chips::ChipSpec& chip, const LoweringOptions& options);

  // Once. `stats` may be null.
  absl::StatusOr<isa::Program> Run(LoweringStats* stats);

 private:
  absl::Status LowerComputation(const hlo::Computation& c,
                                isa::Schedule* schedule);
  absl::Status LowerInstruction(const hlo::Instruction& i,
                                isa::Schedule* schedule);
  isa::OpInfo InfoOf(const hlo::Instruction& i);

  // calls.cc
  absl::Status Call(const hlo::Instruction& i, isa::Schedule* schedule);
  // The number of its kernel, which is made later.
  int KernelFor(const hlo::Instruction& i);
  // Jobs whose kernels earlier programs or earlier rounds have.
  absl::Status FindKnownKernels();
  absl::Status MakeAllKernels();
  // Calls of kernels that the cores of a chip share run on all of them.
  int64_t LeastHbmBytes(const hlo::Instruction& i,
                        absl::Span<const isa::KernelArg> args);
  void SetCores(isa::Schedule* schedule);

  // copies.cc
  absl::Status CopyStart(const hlo::Instruction& i, isa::Schedule* schedule);
  // A slice of one piece of memory, brought elsewhere.
  absl::Status AsyncStart(const hlo::Instruction& i, isa::Schedule* schedule);
  // Parts (pieces of an array, or the planes of 64-bit values) that do not lie
  // beside one another already are copied there.
  absl::Status PutTogether(const hlo::Instruction& i, isa::Schedule* schedule);
  // Same bytes at another place: the DMA engine's work, and a wait for it.
  absl::Status WholeCopy(const hlo::Instruction& i, isa::Schedule* schedule);
  void CopyBytes(const hlo::Instruction& i, const isa::BufferSlice& from,
                 const isa::BufferSlice& to, int64_t bytes,
                 isa::Schedule* schedule);
  // Between device and host memory, over PCIe. The value keeps its place in
  // device memory for the plan, which errs on the large side.
  // infeed and recv-done bring arrays from the host, outfeed and send take them
  // there.
  absl::Status HostTransfer(const hlo::Instruction& i, isa::Schedule* schedule);
  absl::Status HostMove(const hlo::Instruction& i, bool to_host,
                        isa::Schedule* schedule);
  absl::Status CustomCall(const hlo::Instruction& i, isa::Schedule* schedule);

  // collectives.cc
  absl::Status Collective(const hlo::Instruction& i, isa::Schedule* schedule);

  // control_flow.cc
  absl::Status While(const hlo::Instruction& i, isa::Schedule* schedule);
  absl::Status Conditional(const hlo::Instruction& i, isa::Schedule* schedule);

  // values.cc
  absl::StatusOr<isa::BufferSlice> PlaceOf(const hlo::Instruction* i,
                                           int leaf) const;
  // Places of all array leaves of a value.
  absl::Status AppendPlaces(const hlo::Instruction* i,
                            std::vector<isa::BufferSlice>* places) const;
  // What moves the call's next argument, if that is a slice in place.
  absl::Status AppendMoving(const hlo::Instruction& value,
                            isa::Call* call) const;
  // The same of those of its results that are updates in place.
  absl::Status AppendMovingResults(const hlo::Instruction& kernel,
                                   isa::Call* call) const;
  absl::Status AppendStarts(const hlo::Instruction& planes, int arg,
                            isa::Call* call) const;
  // Of all its arrays as they lie, padding included.
  static int64_t BytesOf(const hlo::Instruction& i);
  absl::Status Constant(const hlo::Instruction& i);
  // Which device runs the program: all do the same, so the first is shown.
  absl::Status DeviceNumber(const hlo::Instruction& i);
  // The program's parameters and outputs, array by array.
  absl::Status Leaves();

  const hlo::Module& module_;
  const Placement& placement_;
  const chips::ChipSpec& chip_;
  const LoweringOptions& options_;
  const isa::MachineModel model_;
  hlo::CostAnalysis costs_;
  isa::Program program_;
  LoweringStats stats_;
  absl::flat_hash_map<uint64_t, int> kernels_;
  std::vector<KernelJob> jobs_;  // by kernel number
  absl::flat_hash_map<const hlo::Instruction*, int> started_;
  int next_id_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SCHEDULE_LOWERER_H_

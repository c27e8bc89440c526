// A parameter's asynchronous copy to VMEM, and its readers on the copy:
//
//   VmemCopy copy = CopyToVmem(weights, {{dot, weights}});
//   // copy.start, copy.done and copy.names are to be put into the schedule.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_TO_VMEM_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_TO_VMEM_H_

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// A kernel, and by what name it reads the parameter: itself or a bitcast.
struct ParameterReader {
  Instruction* kernel;
  Instruction* name;
};

// Those that `may`, a kernel and its name for the parameter, in no order.
std::vector<ParameterReader> ReadersThat(
    Instruction* parameter,
    absl::FunctionRef<bool(const Instruction&, const Instruction&)> may);

struct VmemCopy {
  Instruction* start;
  Instruction* done;
  // Bitcasts of `done`, each with the kernel before which it stands.
  std::vector<std::pair<Instruction*, Instruction*>> names;
};

// What is added stands at the end of the parameter's computation.
VmemCopy CopyToVmem(Instruction* parameter,
                    const std::vector<ParameterReader>& readers);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_TO_VMEM_H_

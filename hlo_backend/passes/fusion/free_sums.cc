#include "hlo_backend/passes/fusion/free_sums.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ptxla::hlo {

void JoinFreeSums(absl::Span<Instruction* const> order,
                  const FusionChains& chains, const FusedInputs& inputs,
                  KernelGroups* groups) {
  // Those that read large arrays, by what they iterate over and reduce.
  std::map<std::pair<DimVector, DimVector>, std::vector<int>> readers;
  std::vector<const Instruction*> free;
  for (const Instruction* i : order) {
    const int g = groups->Of(i);
    if (g < 0 || i->opcode() != Opcode::kReduce) continue;
    const GroupKernel& kernel = groups->kernel(g);
    if (!kernel.reduce || kernel.dot) continue;
    const auto& small = chains.node(i).small;
    const int64_t elements = i->operand(0)->shape().ElementCount();
    if (!inputs.Full(i).empty() ||
        std::any_of(small.begin(), small.end(), [&](const Instruction* leaf) {
          return leaf->shape().ElementCount() >= elements;
        })) {
      readers[{kernel.dims, kernel.reduced}].push_back(g);
    } else if (kernel.members == 1) {
      free.push_back(i);
    }
  }
  for (const Instruction* i : free) {
    const int g = groups->Of(i);
    const GroupKernel& kernel = groups->kernel(g);
    const auto found = readers.find({kernel.dims, kernel.reduced});
    if (found == readers.end()) continue;
    for (const int reader : found->second) {
      if (groups->AreNear(reader, g) && groups->Join(reader, g)) break;
    }
  }
}

}  // namespace ptxla::hlo

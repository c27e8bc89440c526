// What a compiler decided for one kernel of a program: the common form of the
// TPU compiler's tables and of ours.
//
// Arrays are compared by element type and number of elements, because bitcasts
// change shapes and nothing else. Spaces are the digits of HLO's memory
// spaces: 0 HBM, 1 VMEM, 3 CMEM, 6 scalars, '?' not known.
#ifndef PTXLA_DRIVER_PARITY_KERNEL_FACTS_H_
#define PTXLA_DRIVER_PARITY_KERNEL_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxla::driver {

struct ArrayFacts {
  std::string type;  // "bf16"
  int64_t elements = 0;
  int64_t bytes = 0;
  char space = '?';

  bool SameArray(const ArrayFacts& o) const {
    return type == o.type && elements == o.elements;
  }
};

struct KernelFacts {
  std::string name;
  // The opcode of the root of the fusion, or of the instruction; a dot is a
  // "convolution", as the TPU compiler writes it.
  std::string root;
  std::vector<ArrayFacts> operands;
  // The TPU compiler's tables name the first output only.
  std::vector<ArrayFacts> outputs;
  int64_t steps = 0;  // grid steps; 0: not known
  // Of entry, one grid step and exit, those that hold an instruction: the TPU
  // compiler writes a wait for a result as a delay of the bundle before it. 0:
  // not known.
  double bundles = 0;
  // Cost of the best tiling for each number of grid steps that the choice
  // looked at, and of the one that it took; empty: nothing was chosen.
  std::map<int64_t, int64_t> cost_by_steps;
  int64_t cost = 0;

  // All its arrays are single values: work of the scalar unit.
  bool IsScalar() const;
};

// HBM of a program in bytes; -1: not known.
struct MemoryFacts {
  int64_t argument = -1, output = -1, alias = -1, temporary = -1;
};

struct ProgramFacts {
  std::string program, chip;
  std::vector<KernelFacts> kernels;  // in schedule order, scalar ones left out
  int64_t prefetched_bytes = 0;      // into VMEM or CMEM, by copies
  MemoryFacts memory;
  // Those that are no names of memory: custom calls that split, combine or lay
  // side by side are none there and none here.
  int64_t WorkingKernels() const;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_KERNEL_FACTS_H_

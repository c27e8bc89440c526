// Puts a value into a memory space, with everything that names its place.
//
//   SetMemorySpace(fusion, -1, kMemoryVmem);   // its whole result
//   SetMemorySpace(fusion, 1, kMemoryHbm);     // element 1 of its tuple
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of an array with a layout.
inline void SetSpace(Shape* shape, int memory_space) {
  shape->mutable_layout()->memory_space = memory_space;
}

// The instructions that stand for element `index` of a result, -1: the whole.
std::vector<Instruction*> ValuesOf(Instruction* maker, int64_t index);

// The user's result takes the place of `value`.
bool UpdatesInPlace(const Instruction& user, const Instruction& value);

// Puts a kernel's result (element `index` of its tuple, -1: the whole) into a
// memory space: its shape, everything that only names it, and the parameters
// and results of the bodies of fusions that read and make it.
void SetMemorySpace(Instruction* maker, int64_t index, int memory_space);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_H_

// Which arrays of a scheduled module lie in the same memory: what only names
// others' (tuples, bitcasts, planes), what is written in place, the states of
// loops and branches, donated parameters, results in the places of operands.
//
//   BufferClasses classes(computations);
//   TieEverywhere(module, computations, chip, &classes);
//   TieWhereTheyLie(leaves, &classes);   // again after values have moved
#ifndef PTXLA_HLO_BACKEND_COMPILER_BUFFER_TIES_H_
#define PTXLA_HLO_BACKEND_COMPILER_BUFFER_TIES_H_

#include <cstdint>
#include <vector>

#include "chips/chip_spec.h"
#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

class ScheduleLeaves;

// Arrays do; sync flags are registers of the DMA engines.
bool HasMemory(const Shape& shape);
// Bytes of an array with its padding; 0: it has no memory.
int64_t LeafBytes(const Shape& shape, const chips::ChipSpec& chip);
// A call that names what several transfers bring, laid side by side.
bool IsConcatBitcast(const Instruction& i);

// Ties that hold whatever memory the values are in.
void TieEverywhere(const Module& module,
                   const std::vector<Computation*>& computations,
                   const chips::ChipSpec& chip, BufferClasses* classes);

// To `classes`, those of the schedule, what depends on where its values lie.
void TieWhereTheyLie(const ScheduleLeaves& schedule, BufferClasses* classes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_BUFFER_TIES_H_

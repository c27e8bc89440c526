// Gathers of single elements of a parameter, right before what reads them.
//
//   %g = gather(%scores, %labels)              %m = reduce(%scores)
//   %m = reduce(%scores)                ==>    %s = fusion(%scores, %m)
//   %s = fusion(%scores, %m)                   %g = gather(%scores, %labels)
//   ROOT fusion(%g, %s)                        ROOT fusion(%g, %s)
//
// Others that read the parameter may have it copied to VMEM by then
// (vmem_prefetch.h), where an element costs half of what its transfer does.
// What may be written in between, table or indices, holds a gather where it is.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_LATE_GATHERS_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_LATE_GATHERS_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Of a scheduled computation. True: the order is another one.
bool MoveGathersToTheirReaders(Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_LATE_GATHERS_H_

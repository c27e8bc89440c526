// A module that the compiler of another machine scheduled (XLA's CPU or GPU
// compiler: layouts without tiles) as one that nobody has compiled yet.
//
//   if (!HasTiledLayouts(*module)) Unschedule(module);
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_UNSCHEDULE_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_UNSCHEDULE_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Has any array of the module tiles, as a TPU's have?
bool HasTiledLayouts(const Module& module);

// Bodies of fusions take their places; the order, and the control edges that
// kept buffers apart, are forgotten. A bitcast to another type of the same
// width is a bitcast-convert, of elements as they lie.
void Unschedule(Module* module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_UNSCHEDULE_H_

// A register for one more address in code that is written already.
#ifndef PTXLA_HLO_BACKEND_LOWERING_STAGES_FREE_REGISTER_H_
#define PTXLA_HLO_BACKEND_LOWERING_STAGES_FREE_REGISTER_H_

#include "isa/kernel.h"

namespace ptxla::lowering {

// The last of `registers` scalar registers that neither instructions nor loop
// counters of the kernel read or write; -1: all are used.
int FreeScalarRegister(const isa::Kernel& kernel, int registers);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_STAGES_FREE_REGISTER_H_

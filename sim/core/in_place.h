// Which arguments of a call a kernel writes where it reads: updates in place of
// an array in HBM, whose reads and writes fall into the same pages of the same
// banks (`hbm.in_place` of the chip).
//
//   const std::vector<bool> in_place = InPlaceArgs(program, call);
//   in_place[2]   // argument 2 is read and written
#ifndef PTXLA_SIM_CORE_IN_PLACE_H_
#define PTXLA_SIM_CORE_IN_PLACE_H_

#include <vector>

#include "isa/program.h"

namespace ptxla::sim {

// One per argument; empty: none.
std::vector<bool> InPlaceArgs(const isa::Program& program,
                              const isa::Call& call);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_IN_PLACE_H_

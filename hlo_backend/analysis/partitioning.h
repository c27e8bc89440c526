// Is a module for several partitions written for one device, or for all of them
// together, to be partitioned by its shardings?
//
//   if (const Instruction* i = FindUnpartitioned(*module)) ...
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PARTITIONING_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PARTITIONING_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// An instruction that shows that the module is still to be partitioned, or
// null. Partitioning leaves no annotation (custom calls Sharding,
// SPMDFullToShardShape, xla.sdy...) and brings collectives where values meet; a
// module without any, whose values have tiled shardings, has not been through
// it. Scheduled modules have.
const Instruction* FindUnpartitioned(const Module& module);

// A value that is to be cut among devices, of a module that does not say for
// how many partitions it is (a text of JAX's lower(), of torch_xla before
// partitioning) and has no collectives: it is run whole, on every device. Null:
// there is none.
const Instruction* FindIgnoredSharding(const Module& module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PARTITIONING_H_

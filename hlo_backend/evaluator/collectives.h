// Collective instructions over the devices that are evaluated.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVES_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/collective_groups.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {

// all-reduce, all-gather, reduce-scatter, all-to-all, collective-permute,
// collective-broadcast, ragged-all-to-all and their -start forms (which give
// the shape of the start). operands[k] are those of devices.ids[k]; one result
// each.
absl::StatusOr<std::vector<Value>> EvalCollective(
    OpContext& context, const Instruction& instruction,
    const DeviceSet& devices, const std::vector<std::vector<Value>>& operands);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVES_H_

// A computation of scalars applied to whole arrays, element by element.
//
//   CanApplyElementwise(*map->to_apply())
//     -> c->Replace(map, ApplyElementwise(*map->to_apply(), operands, dims,
//     c)[0]);
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ELEMENTWISE_BODY_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ELEMENTWISE_BODY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Nothing but parameters, scalar constants and elementwise instructions; its
// root may be a tuple of them.
bool CanApplyElementwise(const Computation& body);

// `operands`, all of size `dims`, for its parameters, in `c`: the value of its
// root, or of each element of a root that is a tuple.
std::vector<Instruction*> ApplyElementwise(
    const Computation& body, absl::Span<Instruction* const> operands,
    absl::Span<const int64_t> dims, Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ELEMENTWISE_BODY_H_

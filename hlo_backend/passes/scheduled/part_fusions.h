// The fusions that stand for parts of a fusion that is taken apart
// (fusion_splitter.h): its body is the entry of a module of its own then, with
// layouts, and kernels afterwards.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_FUSIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_FUSIONS_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// A fusion that keeps the rules (fusion_rules.h); a convolution's operands are
// only converted on their way, and its input turned.
bool IsPartKernel(const Instruction& fusion);

// One fusion again, of row-major arrays. Unimplemented if that is none.
absl::Status FuseWhole(Module* apart, const PassContext& context);

// Its product and all that is computed from it as one fusion, the work in front
// of the product by our own rules (rotated queries before scores whose softmax
// is begun in their kernel). Unimplemented if that is none.
absl::Status FuseBehind(Module* apart, const PassContext& context);

// The same kernel, whose product reads planes (member_planes.h). Unimplemented
// if it does so already.
absl::Status FusePlanes(Module* apart, const PassContext& context);

// The product with what may stand around it (product_core.h), with reduces of
// its columns if `reduces`; the rest by our own rules. `tries`: operands that
// are outside, the first that keeps the rules. `take_out` makes a body anew for
// each attempt.
absl::Status FuseAround(const std::function<void(Module*)>& take_out,
                        bool reduces, absl::Span<const int> tries,
                        const PassContext& context, Module* apart);

// Kernels by our own rules, with the order of elements that the body has.
absl::Status FuseAnew(Module* apart, const PassContext& context);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_FUSIONS_H_

// StableHLO text (MLIR) to Module: what `jax.jit(f).lower(x).as_text()`,
// `jax.export` and torch_xla's exporters print, pretty or generic, also in its
// older dialect "mhlo". The module computes the same.
//
//   ASSIGN_OR_RETURN(auto module, ParseStableHlo(text, "f.mlir"));
//
// @main becomes the entry; several results become a tuple. Functions become
// computations, regions too: values that a while, if or case takes from
// outside join its operands, constants are copied. Shardings (mhlo.sharding
// and Shardy's), donated arguments, locations and Pallas payloads stay.
//
// `sizes`: those of the dimensions that the types of @main's arguments leave
// open (tensor<?x16xf32>), in order; calls are inlined then, and operations
// whose sizes are computed (dynamic_iota ...) become plain ones. Without them
// what keeps its type stays open, the others are refused.
//
// Errors are InvalidArgument "12:7: stablehlo.add: ..." with line and column.
// Unimplemented names an operation that HLO has no word for (shapes that
// depend on arguments, arithmetic on quantised tensors, other dialects). Run
// VerifyModule on the result. stablehlo_writer.h is the way back.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

absl::StatusOr<std::unique_ptr<Module>> ParseStableHlo(
    absl::string_view text, absl::string_view file_name = "",
    absl::Span<const int64_t> sizes = {});

// The text is MLIR, StableHLO or not, by how it begins.
bool LooksLikeMlir(absl::string_view text);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_H_

// A Module as StableHLO text (MLIR), in the form that MLIR itself prints:
// pretty where an operation has a pretty form, else generic.
//
//   ASSIGN_OR_RETURN(std::string text, WriteStableHlo(*module));
//   // module @jit_f {
//   //   func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//   //     %0 = stablehlo.negate %arg0 : tensor<4xf32>
//   //     return %0 : tensor<4xf32> ...
//
// What it computes is what the module computes, and ParseStableHlo(text) writes
// the same text again. Called computations become functions (a fusion too: a
// call of its computation) or regions. Tuples are taken apart everywhere:
// arguments, results, states of loops. Shardings, frontend attributes, donated
// and aliased arguments, and metadata (as locations) stay. What has an
// operation in the dialect chlo only (erf, asin, top_k, ragged-dot ...) is
// written so.
//
// StableHLO has no word for layouts, memory spaces, schedules and control
// dependencies: they go, and with them copies, and asynchronous pairs other
// than those of collectives, which become their operation at the start.
//
// Unimplemented "f.hlo:7:3: r: ..." names an instruction without any form:
// stochastic-convert, rng-get-and-update-state, scaled-dot, ragged-all-to-all,
// scan, sparse products, types that MLIR has no name for.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_WRITER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct StableHloWriteOptions {
  bool locations = true;  // metadata as loc(...)
};

// The module must be valid (VerifyModule).
absl::StatusOr<std::string> WriteStableHlo(
    const Module& module, const StableHloWriteOptions& options = {});

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_STABLEHLO_WRITER_H_

// The inverse error function from instructions that HLO has. Internal to the
// reader.
//
// Source: M. Giles, "Approximating the erfinv function", GPU Computing Gems
// Jade Edition (2011), single precision; f64 by the same with two Newton
// steps on erf.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_ERF_INV_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_ERF_INV_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo::mlir {

// InvalidArgument unless x is floating point.
absl::StatusOr<Instruction*> EmitErfInv(Builder* b, Instruction* x);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_ERF_INV_H_

// Dots in the shape that products have: batch dimensions, one free dimension on
// the right, one contracted dimension.
//
// dot-canonicalizer joins dimensions where that moves nothing. What is left
// here cannot be a kernel as it is: several free dimensions on the right,
// several contracted ones, free ones beside a batch, none at all; batch
// dimensions that are not the major ones, a contracted one far outside. They
// are transposed next to one another and joined, or get a dimension of size 1.
// So is a right operand whose batch lies minor, if another order of its columns
// and K is padded less.
//
// Once, after all simplification: the simplifier would fold the transposes into
// the dimension numbers again.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SHAPER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SHAPER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DotShaperPass : public Pass {
 public:
  absl::string_view name() const override { return "dot-shaper"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SHAPER_H_

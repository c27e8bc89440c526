// The products behind dot, ragged-dot and scaled-dot.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_PRODUCT_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_PRODUCT_H_

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {

// lhs x rhs with the dimension numbers of `dot`, in `type` (ProductType of
// matrix_product.h) and with dimensions batch, lhs free, rhs free. `dims` are
// those of the result.
absl::StatusOr<Value> DotProduct(const Value& lhs, const Value& rhs,
                                 const DotAttrs& dot, PrimitiveType type,
                                 const DimVector& dims, OpContext& context);

// What a ragged-dot with these attributes gives, as the result of `i`. The
// first three operands are lhs, rhs and the sizes of the groups.
absl::StatusOr<Value> RaggedProduct(OpContext& context, const Instruction& i,
                                    const RaggedDotAttrs& attrs,
                                    absl::Span<Value> operands);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_PRODUCT_H_

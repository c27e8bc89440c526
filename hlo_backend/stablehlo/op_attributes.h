// Attributes of one operation as the values that HLO wants, whichever of their
// forms they were written in (`dims = [1, 0]`, `permutation = dense<[1, 0]> :
// tensor<2xi64>`, `array<i64: 1, 0>`). Internal to the reader.
//
// Names are tried in order; errors name the first.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_OP_ATTRIBUTES_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_OP_ATTRIBUTES_H_

#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/product_attributes.h"
#include "hlo_backend/stablehlo/mlir.h"

namespace ptxla::hlo::mlir {

using Names = std::initializer_list<absl::string_view>;

// The attribute under the first of the names that it has, or nullptr.
const Attr* FindAny(const AttrDict& dict, Names names);

// All integers of a list, nested ones in order. Absent: InvalidArgument.
absl::StatusOr<DimVector> Ints(const AttrDict& dict, Names names);
// Absent: `absent`.
absl::StatusOr<DimVector> IntsOr(const AttrDict& dict, Names names,
                                 DimVector absent);
absl::StatusOr<int64_t> Int(const AttrDict& dict, Names names);
int64_t IntOr(const AttrDict& dict, Names names, int64_t absent);
bool BoolOr(const AttrDict& dict, Names names, bool absent);
double RealOr(const AttrDict& dict, Names names, double absent);
// The word of an enumerator: GT of `#stablehlo<comparison_direction GT>`, of
// "GT" and of GT. "": absent.
std::string EnumWord(const AttrDict& dict, Names names);
std::string EnumWord(const Attr& attr);

// The fields of `#stablehlo.gather<offset_dims = [1], ...>`.
absl::StatusOr<AttrDict> Fields(const Attr& attr);
// Of the attribute under one of the names.
absl::StatusOr<AttrDict> Fields(const AttrDict& dict, Names names);

// Adds what mhlo.frontend_attributes holds. InvalidArgument: a key that HLO
// text cannot have as a name.
absl::Status AddFrontendAttributes(const AttrDict& dict,
                                   FrontendAttributes* to);

// An attribute as MLIR text again, for what HLO keeps as text.
std::string AttrText(const Attr& attr);

absl::StatusOr<PrecisionConfig> PrecisionOf(const AttrDict& dict);
absl::StatusOr<Window> WindowOf(const AttrDict& dict, const DimVector& sizes);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_OP_ATTRIBUTES_H_

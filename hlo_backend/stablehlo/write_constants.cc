// Constants: written where a block uses them first.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/constants.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {

absl::StatusOr<std::string> Writer::WriteConstant(const Value& value) {
  const Literal& literal = *value.constant;
  const std::vector<const Shape*> whole = {value.shape};
  if (IsLongSplat(literal)) {
    // As the reader makes it.
    const Literal one = Literal::SplatBytes(
        Shape::Scalar(value.shape->type()),
        absl::MakeSpan(literal.element(0), literal.element_bytes()));
    const Shape scalar = one.shape();
    ASSIGN_OR_RETURN(std::string text, DenseText(one));
    const std::vector<const Shape*> shape = {&scalar};
    ASSIGN_OR_RETURN(
        Values made,
        Emit(nullptr, OpText(absl::StrCat("stablehlo.constant ", text)),
             shape));
    ASSIGN_OR_RETURN(const std::string types, Signature(made, whole));
    ASSIGN_OR_RETURN(made,
                     Emit(value.constant_of,
                          OpText(absl::StrCat("stablehlo.broadcast_in_dim ",
                                              made[0].name, ", dims = []"),
                                 types),
                          whole));
    return made[0].name;
  }
  ASSIGN_OR_RETURN(std::string text, DenseText(literal));
  // The attributes come before the value.
  OpText op;
  const std::string attributes = Attributes(value.constant_of, op);
  op.head = absl::StrCat("stablehlo.constant ",
                         attributes.empty() ? "" : attributes.substr(1),
                         attributes.empty() ? "" : " ", text);
  op.attributes_in_head = true;
  ASSIGN_OR_RETURN(Values made, Emit(value.constant_of, std::move(op), whole));
  return made[0].name;
}

absl::StatusOr<std::string> Writer::Use(const Value& value) {
  if (value.constant == nullptr) return value.name;
  auto it = scope_->constants.find(value.constant);
  if (it != scope_->constants.end()) return it->second;
  ASSIGN_OR_RETURN(const std::string name, WriteConstant(value));
  scope_->constants[value.constant] = name;
  return name;
}

}  // namespace ptxla::hlo::mlir

#include "hlo_backend/input/elided_values.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

int64_t Fill(ElidedValues values, Literal* literal) {
  if (literal->IsTuple()) {
    int64_t count = 0;
    for (Literal& e : *literal->mutable_elements()) count += Fill(values, &e);
    return count;
  }
  if (!literal->IsElided()) return 0;
  *literal = Literal(literal->shape());
  if (values == ElidedValues::kZero) return 1;
  for (int64_t i = 0; i < literal->ElementCount(); ++i) literal->SetInt(i, i);
  return 1;
}

}  // namespace

absl::StatusOr<ElidedValues> ParseElidedValues(absl::string_view name) {
  if (name == "error") return ElidedValues::kKeep;
  if (name == "iota") return ElidedValues::kIota;
  if (name == "zero") return ElidedValues::kZero;
  return absl::InvalidArgumentError(
      absl::StrCat("--elided is error, iota or zero, not \"", name, "\""));
}

int64_t FillElided(Module* module, ElidedValues values) {
  if (values == ElidedValues::kKeep) return 0;
  int64_t count = 0;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      if (!i->IsConstant()) continue;
      auto* attrs = i->mutable_attrs<ConstantAttrs>();
      Literal literal = *attrs->literal;
      const int64_t filled = Fill(values, &literal);
      if (filled == 0) continue;
      attrs->literal = std::make_shared<const Literal>(std::move(literal));
      count += filled;
    }
  }
  return count;
}

}  // namespace ptxla::hlo

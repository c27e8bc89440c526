#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

constexpr char kAttribute[] = "ptxla_score_order";
constexpr char kKeysFirst[] = "keys_first";

}  // namespace

void MarkKeysFirst(Instruction* dot) {
  dot->mutable_extras()->frontend_attributes[kAttribute] = kKeysFirst;
}

bool IsKeysFirst(const Instruction& dot) {
  const auto found = dot.frontend_attributes().find(kAttribute);
  return found != dot.frontend_attributes().end() &&
         found->second == kKeysFirst;
}

void CopyScoreOrder(const Instruction& from, Instruction* to) {
  if (IsKeysFirst(from)) MarkKeysFirst(to);
}

}  // namespace ptxla::hlo

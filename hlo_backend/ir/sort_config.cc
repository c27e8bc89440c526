#include "hlo_backend/ir/sort_config.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ptxla::hlo {
namespace {

constexpr absl::string_view kTie = "tie_operand=";

}  // namespace

int SortTieOperand(const Instruction& sort) {
  absl::string_view config = sort.backend_config();
  int operand;
  if (!absl::ConsumePrefix(&config, kTie) ||
      !absl::SimpleAtoi(config, &operand) || operand < 0 ||
      operand >= sort.operand_count()) {
    return -1;
  }
  return operand;
}

void SetSortTieOperand(Instruction* sort, int operand) {
  sort->set_backend_config(absl::StrCat(kTie, operand), false);
}

}  // namespace ptxla::hlo

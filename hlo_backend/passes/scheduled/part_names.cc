#include "hlo_backend/passes/scheduled/part_names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {
namespace {

constexpr absl::string_view kPart = ".part", kResult = ".out";

}  // namespace

absl::string_view WholeName(absl::string_view part) {
  return part.substr(0, part.rfind(kPart));
}

bool IsPart(const Instruction& i) { return WholeName(i.name()) != i.name(); }

bool IsInnerPart(const Instruction& i) {
  const absl::string_view name = i.name(), whole = WholeName(name);
  return whole != name &&
         !absl::StartsWith(name.substr(whole.size() + kPart.size()), kResult);
}

bool IsReadWithin(const Instruction& value, absl::string_view whole) {
  return std::all_of(
      value.users().begin(), value.users().end(), [&](const Instruction* user) {
        return user->opcode() == Opcode::kBitcast
                   ? IsReadWithin(*user, whole)
                   : IsPart(*user) && WholeName(user->name()) == whole;
      });
}

std::string NameOfParts(const Instruction& whole, bool is_result) {
  return absl::StrCat(WholeName(whole.name()), kPart, is_result ? kResult : "");
}

std::string PartName(const Instruction& whole) {
  return whole.parent()->module()->UniqueName(
      NameOfParts(whole, /*is_result=*/false));
}

}  // namespace ptxla::hlo

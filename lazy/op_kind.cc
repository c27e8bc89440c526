#include "lazy/op_kind.h"

#include <array>

#include "absl/strings/str_replace.h"

namespace ptxla::lazy {
namespace {

constexpr absl::string_view kNames[] = {
#define PTXLA_X(e, name) name,
    PTXLA_LAZY_OPS(PTXLA_X)
#undef PTXLA_X
};
constexpr size_t kCount = std::size(kNames);

}  // namespace

absl::string_view OpName(OpKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

const std::string& HloOpType(OpKind kind) {
  static const auto* const names = [] {
    auto* result = new std::array<std::string, kCount>;
    for (size_t i = 0; i < kCount; ++i) {
      (*result)[i] = absl::StrReplaceAll(kNames[i], {{":", "_"}});
    }
    return result;
  }();
  return (*names)[static_cast<size_t>(kind)];
}

std::optional<OpKind> OpKindFromName(absl::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (kNames[i] == name) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

}  // namespace ptxla::lazy

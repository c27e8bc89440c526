// Lists and enumerators of protos to ours. Internal.
#ifndef PTXLA_HLO_BACKEND_PROTO_ENUM_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_ENUM_PROTO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/attribute_names.h"

namespace ptxla::hlo {

template <class To, class From>
void Copy(const From& from, To* to) {
  to->assign(from.begin(), from.end());
}

inline absl::Status Unknown(absl::string_view what, int64_t number) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " number ", number, " is not known"));
}

// The numbers of the enumerators are those of the protos.
template <class E, size_t N>
absl::Status EnumFromNumber(const absl::string_view (&)[N], int number,
                            absl::string_view what, E* out) {
  if (number < 0 || number >= static_cast<int>(N)) return Unknown(what, number);
  *out = static_cast<E>(number);
  return absl::OkStatus();
}

template <class E, size_t N>
absl::Status EnumFromName(const absl::string_view (&names)[N],
                          const std::string& name, absl::string_view what,
                          E* out) {
  const int index = IndexOf(names, name);
  if (index < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown ", what, " \"", name, "\""));
  }
  *out = static_cast<E>(index);
  return absl::OkStatus();
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_ENUM_PROTO_H_

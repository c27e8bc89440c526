// A module of one operation on two arrays.
//
//   CompareKernel(BinaryOperation("add", "bf16", "257,129"))
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_BINARY_OPERATION_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_BINARY_OPERATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"

namespace ptxla::lowering {

inline std::string BinaryOperation(absl::string_view op, absl::string_view type,
                                   absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $1[$2] parameter(0)
  b = $1[$2] parameter(1)
  ROOT r = $1[$2] $0(a, b)
})",
                          op, type, dims);
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_BINARY_OPERATION_H_

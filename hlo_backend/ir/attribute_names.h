// The words that stand for enumerators in attribute text; printer and parser
// share them. Index = enumerator.
#ifndef PTXLA_HLO_BACKEND_IR_ATTRIBUTE_NAMES_H_
#define PTXLA_HLO_BACKEND_IR_ATTRIBUTE_NAMES_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace ptxla::hlo {

inline constexpr absl::string_view kCompareDirections[] = {"EQ", "NE", "GE",
                                                           "GT", "LE", "LT"};
inline constexpr absl::string_view kCompareTypes[] = {"", "FLOAT", "TOTALORDER",
                                                      "SIGNED", "UNSIGNED"};
inline constexpr absl::string_view kFusionKinds[] = {"kLoop", "kInput",
                                                     "kOutput", "kCustom"};
inline constexpr absl::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT",
                                                  "IRFFT"};
inline constexpr absl::string_view kTransposes[] = {
    "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
inline constexpr absl::string_view kRngDistributions[] = {"rng_uniform",
                                                          "rng_normal"};
inline constexpr absl::string_view kRngAlgorithms[] = {
    "rng_default", "rng_three_fry", "rng_philox"};
inline constexpr absl::string_view kPrecisions[] = {"default", "high",
                                                    "highest"};
inline constexpr absl::string_view kDotAlgorithms[] = {
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9"};
inline constexpr absl::string_view kConvolutionKinds[] = {"unset", "fprop",
                                                          "dgrad", "wgrad"};
inline constexpr absl::string_view kPaddingTypes[] = {
    "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
inline constexpr absl::string_view kCustomCallSchedules[] = {
    "SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
inline constexpr absl::string_view kCustomCallApis[] = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI"};

template <size_t N, class E>
absl::string_view NameOf(const absl::string_view (&names)[N], E value) {
  return names[static_cast<size_t>(value)];
}

// -1: none of them.
template <size_t N>
int IndexOf(const absl::string_view (&names)[N], absl::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ATTRIBUTE_NAMES_H_

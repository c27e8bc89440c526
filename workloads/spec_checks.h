// What the checks of workload fields share: one sentence that names the field,
// its value and what it may be.
//
//   RETURN_IF_ERROR(CheckPositive("bert.layers", b.layers(), kMostLayers));
#ifndef PTXLA_WORKLOADS_SPEC_CHECKS_H_
#define PTXLA_WORKLOADS_SPEC_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "workloads/workload.pb.h"

namespace ptxla::workloads {

// Sizes above these are typing errors, and their products would overflow.
inline constexpr int64_t kLargestSize = int64_t{1} << 24;
inline constexpr int64_t kMostLayers = 10000;

// "field mlp.widths needs at least two".
absl::Status BadField(absl::string_view field, absl::string_view why);

absl::Status CheckPositive(absl::string_view field, int64_t value,
                           int64_t largest = kLargestSize);

// The batch is positive, and with so many elements per sample its arrays stay
// below 2^45 elements.
absl::Status CheckBatch(const WorkloadSpec& spec, double elements_per_sample);

// Nobody reads the sequence length of a model of single samples.
absl::Status CheckNoSequence(const WorkloadSpec& spec);

// OK if `value` is among `supported`; Unimplemented if it is among `known`;
// else NotFound with "did you mean".
absl::Status CheckOneOf(absl::string_view field, const std::string& value,
                        const std::vector<std::string>& supported,
                        const std::vector<std::string>& known);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_SPEC_CHECKS_H_

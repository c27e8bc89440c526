#include "workloads/spec_checks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/suggest.h"

namespace ptxla::workloads {
namespace {

constexpr double kLargestArray = 0x1p45;  // elements

}  // namespace

absl::Status BadField(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("field ", field, " ", why));
}

absl::Status CheckPositive(absl::string_view field, int64_t value,
                           int64_t largest) {
  if (value > largest) {
    return BadField(field,
                    absl::StrCat("must be at most ", largest, ", is ", value));
  }
  if (value > 0) return absl::OkStatus();
  return BadField(field, absl::StrCat("must be positive, is ", value));
}

absl::Status CheckBatch(const WorkloadSpec& spec, double elements_per_sample) {
  const int64_t batch = spec.global_batch() + spec.batch_per_chip();
  const char* field =
      spec.global_batch() > 0 ? "global_batch" : "batch_per_chip";
  RETURN_IF_ERROR(CheckPositive(field, batch));
  if (static_cast<double>(batch) * elements_per_sample > kLargestArray) {
    return BadField(
        field,
        absl::StrCat("= ", batch, " makes arrays of more than 2^45 elements"));
  }
  return absl::OkStatus();
}

absl::Status CheckNoSequence(const WorkloadSpec& spec) {
  if (spec.seq() == 0) return absl::OkStatus();
  return BadField("seq", absl::StrCat("= ", spec.seq(), ", but samples of ",
                                      spec.name(), " are no sequences"));
}

absl::Status CheckOneOf(absl::string_view field, const std::string& value,
                        const std::vector<std::string>& supported,
                        const std::vector<std::string>& known) {
  for (const std::string& s : supported) {
    if (value == s) return absl::OkStatus();
  }
  for (const std::string& k : known) {
    if (value == k) {
      return absl::UnimplementedError(absl::StrCat(
          field, " \"", value,
          "\" is not supported; supported: ", absl::StrJoin(supported, ", ")));
    }
  }
  return UnknownName(field, value, supported);
}

}  // namespace ptxla::workloads

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/suggest.h"
#include "workloads/spec.h"

namespace ptxla::workloads {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("field ", field, " ", why));
}

// Sizes above these are typing errors, and their products would overflow.
constexpr int64_t kLargestSize = int64_t{1} << 24;
constexpr int64_t kMostLayers = 10000;
constexpr double kLargestArray = 0x1p45;  // elements

absl::Status Positive(absl::string_view field, int64_t value,
                      int64_t largest = kLargestSize) {
  if (value > largest) {
    return Bad(field,
               absl::StrCat("must be at most ", largest, ", is ", value));
  }
  if (value > 0) return absl::OkStatus();
  return Bad(field, absl::StrCat("must be positive, is ", value));
}

// A batch with so many elements per sample.
absl::Status CheckBatch(const WorkloadSpec& spec, double per_sample) {
  const int64_t batch = spec.global_batch() + spec.batch_per_chip();
  const char* field =
      spec.global_batch() > 0 ? "global_batch" : "batch_per_chip";
  RETURN_IF_ERROR(Positive(field, batch));
  if (static_cast<double>(batch) * per_sample > kLargestArray) {
    return Bad(field, absl::StrCat("= ", batch,
                                   " makes arrays of more than 2^45 elements"));
  }
  return absl::OkStatus();
}

// `value` is among `supported`; else Unimplemented if it is among `known`.
absl::Status OneOf(absl::string_view field, const std::string& value,
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

absl::Status CheckBert(const WorkloadSpec& spec) {
  const BertSpec& b = spec.bert();
  RETURN_IF_ERROR(Positive("bert.layers", b.layers(), kMostLayers));
  RETURN_IF_ERROR(Positive("bert.hidden", b.hidden()));
  RETURN_IF_ERROR(Positive("bert.heads", b.heads()));
  RETURN_IF_ERROR(Positive("bert.intermediate", b.intermediate()));
  RETURN_IF_ERROR(Positive("bert.vocabulary", b.vocabulary()));
  RETURN_IF_ERROR(Positive("bert.token_types", b.token_types()));
  RETURN_IF_ERROR(Positive("bert.max_positions", b.max_positions()));
  RETURN_IF_ERROR(Positive("seq", spec.seq()));
  if (b.hidden() % b.heads() != 0) {
    return Bad("bert.heads",
               absl::StrCat("= ", b.heads(),
                            " does not divide bert.hidden = ", b.hidden()));
  }
  const double widest = static_cast<double>(std::max(
      {b.hidden(), b.intermediate(), b.vocabulary(), spec.seq() * b.heads()}));
  RETURN_IF_ERROR(CheckBatch(spec, widest * static_cast<double>(spec.seq())));
  if (spec.seq() > b.max_positions()) {
    return Bad("seq",
               absl::StrCat("= ", spec.seq(), " is above bert.max_positions = ",
                            b.max_positions()));
  }
  return absl::OkStatus();
}

absl::Status CheckMlp(const WorkloadSpec& spec) {
  const MlpSpec& mlp = spec.mlp();
  if (mlp.widths_size() < 2) {
    return Bad("mlp.widths", "needs at least an input and an output width");
  }
  for (int64_t width : mlp.widths()) {
    RETURN_IF_ERROR(Positive("mlp.widths", width));
    RETURN_IF_ERROR(CheckBatch(spec, static_cast<double>(width)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSpec(const WorkloadSpec& spec) {
  RETURN_IF_ERROR(
      OneOf("phase", spec.phase(), {"train", "prefill"}, {"decode", "serve"}));
  RETURN_IF_ERROR(
      OneOf("dtype", spec.dtype(), {"bf16", "f32"}, {"f16", "int8", "fp8"}));
  RETURN_IF_ERROR(OneOf("optimizer", spec.optimizer(), {"adamw", "sgd"},
                        {"adam", "adagrad", "adafactor", "lamb"}));
  if ((spec.global_batch() > 0) == (spec.batch_per_chip() > 0)) {
    return Bad("global_batch",
               "or batch_per_chip must be positive, one of the two");
  }
  if (spec.dropout() < 0 || spec.dropout() >= 1) {
    return Bad("dropout",
               absl::StrCat("must be in [0, 1), is ", spec.dropout()));
  }
  RETURN_IF_ERROR(OneOf("model", spec.model(), {"bert", "mlp"}, {}));
  return spec.model() == "bert" ? CheckBert(spec) : CheckMlp(spec);
}

}  // namespace ptxla::workloads

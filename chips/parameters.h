// The names of the numbers that a chip file may hold, and the units they are
// written in. This list is the vocabulary between chip files and code.
//
// A key is `group.name`. Fixed keys are listed by KnownParameters(); five
// groups are open, because their second part is a name that another layer
// owns:
//   latency.NAME    cycles from issue of the producer to the first issue of a
//                   consumer; NAME as in the instruction table
//   interval.NAME   least cycles between two such operations on one unit
//   fifo.NAME       results that a queue between units holds
//   policy.NAME     a rule of the TPU compiler that is a number (unroll, ...)
//   host.NAME       host side costs, owned by the runtime
#ifndef PTXLA_CHIPS_PARAMETERS_H_
#define PTXLA_CHIPS_PARAMETERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "chips/chip.pb.h"

namespace ptxla::chips {

// What a number measures. A value is kept in the base unit in parentheses.
enum class Dimension {
  kCount,      // (1) "per bundle", "per core", "registers" …: see units below
  kCycles,     // (cycles) "cycles"
  kFrequency,  // (Hz) "Hz", "MHz", "GHz"
  kBytes,      // (B) "B", "KiB", "MiB", "GiB"; "GB" is 1e9 B
  kRate,       // (B/s) "B/s", "GB/s", "GiB/s"
  kTime,       // (s) "s", "ms", "us", "ns"
  kFraction,   // (1) "fraction", in [0, 1]
  kPower,      // (W) "W"
  kAny,        // open groups whose unit may be any of the above
};

struct ParameterRule {
  const char* key;
  Dimension dimension;
  bool integer;
  bool required;
  const char* meaning;
};

absl::Span<const ParameterRule> KnownParameters();

// The rule of `key`, or nullptr. A key of an open group gets the group's rule.
const ParameterRule* FindParameterRule(absl::string_view key);

// One number of a chip, checked. `value` is in the base unit of its dimension.
struct Parameter {
  std::string key;
  double value = 0;
  std::string unit;  // as written
  double written = 0;
  std::string source;
  Confidence confidence = CONFIDENCE_UNSPECIFIED;
  const ParameterRule* rule = nullptr;
};

// Base-unit value of `written` `unit`. InvalidArgument names the units that
// `dimension` understands.
absl::StatusOr<double> ToBaseUnit(double written, absl::string_view unit,
                                  Dimension dimension);

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_PARAMETERS_H_

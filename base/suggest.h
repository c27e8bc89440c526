// "did you mean": for every place where a user may misspell a name.
//
//   return UnknownName("workload", "brt", {"bert", "mlp"});
//   // NotFound: unknown workload "brt"; did you mean "bert"? known: bert, mlp
#ifndef PTXLA_BASE_SUGGEST_H_
#define PTXLA_BASE_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ptxla {

// Levenshtein distance.
int EditDistance(absl::string_view a, absl::string_view b);

// The known name nearest to `name`, or "" if none is near: distance above a
// third of the length, at least 2, or another number (v7 is no v2).
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known);

// Lists up to 12 known names.
absl::Status UnknownName(absl::string_view kind, absl::string_view name,
                         const std::vector<std::string>& known);

}  // namespace ptxla

#endif  // PTXLA_BASE_SUGGEST_H_

// The list of all passes, in alphabetical order. A new pass is one line here.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, MakePass("cse"));
#ifndef PTXLA_HLO_BACKEND_PASSES_ALL_PASSES_H_
#define PTXLA_HLO_BACKEND_PASSES_ALL_PASSES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

struct PassEntry {
  absl::string_view name;
  absl::string_view summary;  // one line, for --help and docs
  std::unique_ptr<Pass> (*make)();
};

std::vector<PassEntry> AllPasses();

// NotFound with "did you mean" for an unknown name.
absl::StatusOr<std::unique_ptr<Pass>> MakePass(absl::string_view name);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_ALL_PASSES_H_

// The HLO of a workload's training step as the compiler gets it, for
// benchmarks of what comes after.
//
//   std::unique_ptr<hlo::Module> m = TracedModule("bert", /*replicas=*/8);
#ifndef PTXLA_BENCHMARKS_TRACED_MODULE_H_
#define PTXLA_BENCHMARKS_TRACED_MODULE_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"

namespace ptxla {

// Of the second step: the first makes the optimizer's state too.
std::unique_ptr<hlo::Module> TracedModule(absl::string_view workload,
                                          int replicas);

}  // namespace ptxla

#endif  // PTXLA_BENCHMARKS_TRACED_MODULE_H_

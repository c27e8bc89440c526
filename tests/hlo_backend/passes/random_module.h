// Small random modules of the kind that training steps are made of, for tests
// that compare what a module computes before and after a pass.
#ifndef PTXLA_TESTS_HLO_BACKEND_PASSES_RANDOM_MODULE_H_
#define PTXLA_TESTS_HLO_BACKEND_PASSES_RANDOM_MODULE_H_

#include <memory>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Elementwise work, broadcasts, reshapes, transposes, reduces and products on
// arrays of a few hundred f32 elements; a tuple of several results. The same
// module for a seed everywhere.
std::unique_ptr<Module> RandomModule(uint64_t seed);

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_PASSES_RANDOM_MODULE_H_

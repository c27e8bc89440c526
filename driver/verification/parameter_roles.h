// What the parameters of a module stand for, read off how the module uses them:
// which values are in range, positive, near one. For inputs on which a program
// does what it does in earnest, whatever its name.
//
//   const std::vector<ParameterRole> roles = RolesOf(*module);
//   roles[3].kind == ParameterRole::kIndex; roles[3].bound == 30522
//
// A tuple parameter counts as data.
#ifndef PTXLA_DRIVER_VERIFICATION_PARAMETER_ROLES_H_
#define PTXLA_DRIVER_VERIFICATION_PARAMETER_ROLES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct ParameterRole {
  enum Kind : uint8_t {
    kData,      // anything: activations, moments
    kIndex,     // integers in [0, bound): indices, classes, tokens
    kFlag,      // other integer arrays: masks
    kScalar,    // factors, rates, seeds
    kWeight,    // right side of a dot, or a table that is gathered from
    kScale,     // broadcast to a factor: a norm's gain
    kBias,      // broadcast to anything else
    kPositive,  // meets sqrt, rsqrt or log without a square on the way
  };
  Kind kind = kData;
  int64_t bound = 0;  // kIndex
};

std::vector<ParameterRole> RolesOf(const hlo::Module& module);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_PARAMETER_ROLES_H_

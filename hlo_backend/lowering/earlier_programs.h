// Programs of the same chip and options whose kernels others may have: those of
// a run share nearly all of theirs.
//
//   options.earlier = TheseProgramsFirst({&first.program});
#ifndef PTXLA_HLO_BACKEND_LOWERING_EARLIER_PROGRAMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_EARLIER_PROGRAMS_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "isa/program.h"

namespace ptxla::lowering {

using Programs = std::vector<const isa::Program*>;
// Asked when the kernels of a program are to be made, and not before: it may
// wait for an earlier program that is still compiled. Its error ends the
// lowering.
using EarlierPrograms = std::function<absl::StatusOr<Programs>()>;

inline EarlierPrograms TheseProgramsFirst(Programs programs) {
  return [programs = std::move(programs)]() -> absl::StatusOr<Programs> {
    return programs;
  };
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_EARLIER_PROGRAMS_H_

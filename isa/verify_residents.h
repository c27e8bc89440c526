// Proves that what stays in VMEM is not where kernels have their windows: a
// VMEM buffer may begin inside of the program's scoped VMEM only if every
// kernel that runs while it lives has less.
//
// A buffer lives from the first op of its schedule that names it to the last;
// with a copy or a collective that is under way until that one's end; all the
// time if it is a parameter, an output or a constant. What only one loop or
// branch names lives inside of it (and from one iteration to the next is not
// looked at).
#ifndef PTXLA_ISA_VERIFY_RESIDENTS_H_
#define PTXLA_ISA_VERIFY_RESIDENTS_H_

#include "absl/status/status.h"
#include "isa/program.h"

namespace ptxla::isa {

absl::Status VerifyResidents(const Program& program);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VERIFY_RESIDENTS_H_

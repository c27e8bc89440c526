// Fills the part of an explanation that is about bundles: loop nest, windows,
// slots, blocks, tilings and losses of the kernel of one op.
#ifndef PTXLA_DRIVER_EXPLAIN_KERNEL_PAGE_H_
#define PTXLA_DRIVER_EXPLAIN_KERNEL_PAGE_H_

#include <string>

#include "absl/status/status.h"
#include "chips/chip_spec.h"
#include "chips/topology.h"
#include "hlo_backend/ir/instruction.h"
#include "isa/program.h"
#include "record/explanation.pb.h"

namespace ptxla::driver {

// "hbm", "vmem" …; what lies beside a scoped VMEM that is all of VMEM is in the
// CMEM behind it.
std::string SpaceName(isa::Space space, const chips::ChipSpec& chip);

// `out` has the op's name and cycles already. Internal: the lowering made
// another kernel than the program has.
absl::Status ExplainKernel(const hlo::Instruction& instruction,
                           const isa::Program& program, const isa::Call& call,
                           const chips::Slice& slice, record::Explanation* out);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_KERNEL_PAGE_H_

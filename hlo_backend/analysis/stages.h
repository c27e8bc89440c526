// Kernels in stages: a fusion of kind kCustom with backend_config "stages",
// whose body is kernels of small arrays that run one after the other in one
// kernel. What they hand on lies in its VMEM scratch.
//
// That is what a TPU kernel does with slices, concatenations, casts and small
// arithmetic around one another: one start, one wait for memory.
//
//   %turned = (x: bf16[8,64,32]) -> bf16[8,64,32] {
//     %x = bf16[8,64,32] parameter(0)
//     %low = bf16[8,64,16] slice(%x), slice={[0:8], [0:64], [0:16]}
//     %high = bf16[8,64,16] slice(%x), slice={[0:8], [0:64], [16:32]}
//     %minus = bf16[8,64,16] negate(%high)
//     ROOT %out = bf16[8,64,32] concatenate(%minus, %low), dimensions={2}
//   }
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_STAGES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_STAGES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

inline constexpr absl::string_view kStagesConfig = "stages";

bool IsStagedFusion(const Instruction& instruction);

// A kernel that computes arrays from arrays and writes nothing in place.
bool MayBeStage(const Instruction& kernel);

// Unimplemented, naming the instruction of the body that is no stage.
absl::Status CheckStagedFusion(const Instruction& fusion);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_STAGES_H_

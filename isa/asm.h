// The text form (.tpuasm) of programs, kernels and code. Parse(Print(x)) == x.
// Errors are InvalidArgument "name:line:column: message".
//
//   kernel "fusion.1" {
//     arg "p0" hbm in 4096
//     arg "out" hbm out 4096
//     window w0 arg0 in vmem inner=4096 slots=1 slot_bytes=4096 at=0
//     ...
//     step {
//       block "body" {
//         { s1 = swin w0 ; dma.wait w0 }
//         { v1 = vld [s1] }
//         { v2 = vadd.f32 v1, v1 }
//         { nop 1 }
//       }
//       loop s5 step 4096 times 16 { ... }
//       loop s5 step 1 times 16 of s7 { ... }   // on data s7 times
//       when first 2 { ... }
//     }
//   }
#ifndef PTXLA_ISA_ASM_H_
#define PTXLA_ISA_ASM_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "isa/program.h"

namespace ptxla::isa {

std::string Print(const Instr& instr);
std::string Print(const Block& block);
std::string Print(const Code& code);
std::string Print(const Kernel& kernel);
std::string Print(const Program& program);

absl::StatusOr<Instr> ParseInstr(absl::string_view text);
absl::StatusOr<Code> ParseCode(absl::string_view text,
                               absl::string_view name = "code");
absl::StatusOr<Kernel> ParseKernel(absl::string_view text,
                                   absl::string_view name = "kernel");
absl::StatusOr<Program> ParseProgram(absl::string_view text,
                                     absl::string_view name = "program");

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_ASM_H_

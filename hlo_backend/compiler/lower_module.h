// A scheduled module with its memory planned and its kernels made. What
// lowering refuses is taken apart (passes/scheduled/fusion_splitter.h) and
// tried again, in rounds; kernels that were made once stay. An instruction that
// is refused in the end is so for the reason that was given first
// (CompileOptions::memory_first apart).
//
//   ASSIGN_OR_RETURN(LoweredModule l, LowerModule(module.get(), chip,
//   options)); simulate(l.program);
#ifndef PTXLA_HLO_BACKEND_COMPILER_LOWER_MODULE_H_
#define PTXLA_HLO_BACKEND_COMPILER_LOWER_MODULE_H_

#include "hlo_backend/compiler/compiler.h"

namespace ptxla::hlo {

struct LoweredModule {
  PlannedMemory memory;
  isa::Program program;
};

// Errors are Compile's.
absl::StatusOr<LoweredModule> LowerModule(Module* module,
                                          const chips::ChipSpec& chip,
                                          const CompileOptions& options);

// An embedded pipeline by its name, or the one in a file. Errors name the
// nearest.
absl::StatusOr<Pipeline> LoadPipeline(const std::string& name);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_LOWER_MODULE_H_

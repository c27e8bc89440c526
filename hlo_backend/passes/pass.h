// A pass changes a module into an equivalent one that suits the chip better.
//
//   class CsePass : public Pass {
//    public:
//     absl::string_view name() const override { return "cse"; }
//     absl::StatusOr<bool> Run(Module* module, const PassContext& c) override;
//   };
//
// Run returns whether it changed anything; a pipeline that verifies compares
// fingerprints and calls a wrong answer Internal. A pass keeps no state
// between runs and reads only the module and its context. One .h/.cc pair per
// pass; all_passes.h lists them.
#ifndef PTXLA_HLO_BACKEND_PASSES_PASS_H_
#define PTXLA_HLO_BACKEND_PASSES_PASS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"
#include "hlo_backend/analysis/cost_model.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// What a user may choose. The defaults are those of XLA on TPUs.
struct PassOptions {
  // A value may keep more bits than its type says where that saves work:
  // f32 -> bf16 -> f32 is dropped, x / c becomes x * (1 / c). XLA calls it
  // xla_allow_excess_precision.
  bool allow_excess_precision = true;
  // Constants of more elements than this are not folded (splats are).
  int64_t max_folded_elements = 4096;
};

// What a pass may know besides the module. `chip` and `cost` are never null
// in the compiler's pipelines; passes that say so in their header work without.
struct PassContext {
  const chips::ChipSpec* chip = nullptr;
  const CostModel* cost = nullptr;
  PassOptions options;
};

// Of tiles and rules, where no chip is known: v5e's and v5p's.
inline int GenerationOf(const PassContext& context) {
  return context.chip == nullptr ? 5 : context.chip->generation();
}

class Pass {
 public:
  virtual ~Pass() = default;
  // As in pipelines, reports and --disable-passes: "algebraic-simplifier".
  virtual absl::string_view name() const = 0;
  virtual absl::StatusOr<bool> Run(Module* module,
                                   const PassContext& context) = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PASS_H_

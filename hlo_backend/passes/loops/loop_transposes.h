// State that every iteration turns as it reads it, and turns back as it hands
// it on, lies turned:
//
//   body: %t = f32[16,8,512] transpose(%h), dimensions={2,0,1}
//         ... f32[16,8,512] %n ...
//         ROOT tuple(.., transpose(%n), dimensions={1,2,0})
//   ==>   ROOT tuple(.., %n)      // of %h: f32[16,8,512]
//
// With a transpose before the loop, and one behind it that goes down through
// the work that follows (layout/transpose_mover.h). What turns the work of an
// iteration so (minor_planes.h) knows.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_TRANSPOSES_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_TRANSPOSES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopTransposesPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-transposes"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_TRANSPOSES_H_

// Gathers and scatters that move windows one after another, as libtpu's do: a
// loop over the index vectors that slices a window, and updates with it.
//
//   bf16[16,1024,8,128] scatter(cache, s32[16,1] at, bf16[16,1,8,128] keys)
//     // vmap of dynamic-update-slice: its windows keep the indexed dimension
//   ==> while (n < 16): at = {n, at[n]}; key = at is inside ? keys[n]
//                                              : dynamic-slice(cache, at);
//                       cache = dynamic-update-slice(cache, key, at)
//
// A scatter stays one operation where its windows lack exactly the dimensions
// that are indexed and have the others whole. A gather does where windows are
// one long in what they index, or where two dimensions or more are not longer,
// which are the rows and lanes of tiles then, and a window is 512 tiles or less
// (enlarged images of torch_xla: 3 x 3 positions each). Other forms are loops,
// whatever they cost: some 5 us for each window (libtpu 0.0.42.1, v5e and v6e,
// 97 programs of both kinds). Scatters whose body is more than one operation
// are loops, too, and those that do more to f64 values than replace them, or to
// 64-bit integers than add; several arrays that have one each stay, whatever
// their windows are. One window alone is a dynamic-slice or its update
// (gather_canonicalizer.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_LOOPS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_LOOPS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class WindowLoopsPass : public Pass {
 public:
  absl::string_view name() const override { return "window-loops"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_LOOPS_H_

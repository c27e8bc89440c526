// Sliding windows that have no kernel (window_canonicalizer.h) as slices and
// elementwise work.
//
//   reduce-window (pooling):   one slice of the padded array per position in
//       the window, combined element by element by the body (any elementwise
//       one, of several arrays too);
//   reduce-window of many positions, by one operation: dimension by dimension,
//       values of 1, 2, 4 ... neighbours, of which those are put together that
//       make up the window;
//   reduce-window over all earlier elements of a dimension (a cumulative sum):
//       doubling steps, of any body (cumulative_windows.h);
//   select-and-scatter (gradient of a maximum's pooling): per position, the
//       source where that position is the first that was selected, spread to
//       the base and added.
//
// What comes out moves more bytes than a kernel would. Other windows of
// more than kMostPositions positions over several arrays or with bodies that
// are no single operation stay as they are.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// What stands for a reduce-window; null: it stays.
Instruction* ExpandedWindow(Instruction* reduce_window);

class WindowExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "window-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_EXPANDER_H_

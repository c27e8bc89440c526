// Elements of a loop's state that no iteration changes: they lie where the loop
// got them, before, in and behind it.
//
//   %t = (f32[8], f32[8]) tuple(%a, %b)
//   %w = while(%t), body=... ROOT tuple(tanh(%x), %y)   // of (%x, %y)
//   KeptElements(*c).PlaceOf(%w's element 1)            // that of %b
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_KEPT_ELEMENTS_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_KEPT_ELEMENTS_H_

#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

// Element `k` of the next state is that of this state.
bool KeepsElement(const Instruction& loop, int k);

class KeptElements {
 public:
  explicit KeptElements(const Computation& computation);

  // As hlo::PlaceOf, seen through loops that keep the value.
  MemoryPlace PlaceOf(const Instruction* value) const;

  // As hlo::LastRead, with readers of what loops kept.
  int LastRead(const MemoryPlace& place, const Positions& positions,
               const Instruction* except = nullptr) const;

 private:
  static MemoryPlace StartOf(MemoryPlace place);

  std::vector<MemoryPlace> kept_;  // elements of loops
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_KEPT_ELEMENTS_H_

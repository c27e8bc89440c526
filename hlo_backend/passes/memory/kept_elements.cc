#include "hlo_backend/passes/memory/kept_elements.h"

#include <algorithm>

namespace ptxla::hlo {

bool KeepsElement(const Instruction& loop, int k) {
  const Computation& body = *loop.while_body();
  if (body.root()->opcode() != Opcode::kTuple) return false;
  const MemoryPlace place = PlaceOf(body.root()->operand(k));
  return place.maker == body.parameter(0) && place.index == k &&
         place.plane == Plane::kWhole;
}

KeptElements::KeptElements(const Computation& computation) {
  for (const Instruction* i : computation.instructions()) {
    if (i->opcode() != Opcode::kWhile || !i->shape().IsTuple()) continue;
    for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
      if (KeepsElement(*i, k)) kept_.push_back({i, k});
    }
  }
}

MemoryPlace KeptElements::StartOf(MemoryPlace place) {
  while (place.index >= 0 && place.maker->opcode() == Opcode::kWhile &&
         KeepsElement(*place.maker, static_cast<int>(place.index))) {
    const Instruction* start = place.maker->operand(0);
    const Plane plane = place.plane;
    if (start->opcode() == Opcode::kTuple) {
      place = hlo::PlaceOf(start->operand(static_cast<int>(place.index)));
    } else {
      place.maker = start;
    }
    if (plane != Plane::kWhole) place.plane = plane;
  }
  return place;
}

MemoryPlace KeptElements::PlaceOf(const Instruction* value) const {
  return StartOf(hlo::PlaceOf(value));
}

int KeptElements::LastRead(const MemoryPlace& place, const Positions& positions,
                           const Instruction* except) const {
  int last = hlo::LastRead(place, positions, except);
  for (const MemoryPlace& kept : kept_) {
    if (StartOf(kept).Overlaps(place)) {
      last = std::max(last, hlo::LastRead(kept, positions, except));
    }
  }
  return last;
}

}  // namespace ptxla::hlo

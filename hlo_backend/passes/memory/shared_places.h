// Results that lie where an operand lay: a kernel that goes through both
// element by element writes each where it has just read, so that an array that
// nobody reads later makes room for the result (XLA shares such buffers, too).
//
//   for (const SharedPlace& s : SharedPlaces(*entry, positions))
//     tie(s.from, s.to);
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_SHARED_PLACES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_SHARED_PLACES_H_

#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

struct SharedPlace {
  MemoryPlace from;  // what `to`'s maker is the last to read
  MemoryPlace to;
};

// Of a scheduled computation with layouts, in its order; every place is at most
// once what is taken and once what takes. Kernels make both, and only kernels
// read them: parameters, results of the computation, states of loops and what
// is updated in place stay apart. Memory spaces are not looked at.
std::vector<SharedPlace> SharedPlaces(const Computation& computation,
                                      const Positions& positions);

// The shape of the array at a place.
const Shape& ShapeOf(const MemoryPlace& place);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_SHARED_PLACES_H_

// Dimensions as cuts: the products of the trailing dimensions. Two shapes of
// the same number of elements split them alike where they share cuts, and a
// reshape is a change of the set of cuts.
//
//   CutsOf({8, 128, 64}) == {64, 8192}          // between 128|64 and 8|128
//   DimsOf({64, 8192}, 65536) == {8, 128, 64}
//   DimsOf({64}, 65536) == {1024, 64}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_CUTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_CUTS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// Increasing, without 1 and without the number of elements.
using Cuts = absl::InlinedVector<int64_t, 4>;

Cuts CutsOf(absl::Span<const int64_t> dims);
// `cuts` must divide one another and `elements`.
DimVector DimsOf(const Cuts& cuts, int64_t elements);
bool HasCut(const Cuts& cuts, int64_t cut);
void AddCut(Cuts* cuts, int64_t cut);
// Every cut divides the next: they are the dimensions of some shape.
bool IsChain(const Cuts& cuts, int64_t elements);

// Cuts that a broadcast to `dims` needs: between dimensions that come from
// the operand and those that do not, and between two that do.
Cuts CutsOfBroadcast(absl::Span<const int64_t> dims,
                     absl::Span<const int64_t> mapping);
// Cuts that a reduce over `reduced` of `dims` needs: between reduced and kept
// dimensions, and between two that are kept.
Cuts CutsOfReduce(absl::Span<const int64_t> dims,
                  absl::Span<const int64_t> reduced);

// Those of them without which one side cannot be told from the other:
// dimensions that are next to one another on both sides may be joined.
Cuts LeastCutsOfBroadcast(absl::Span<const int64_t> dims,
                          absl::Span<const int64_t> mapping);
Cuts LeastCutsOfReduce(absl::Span<const int64_t> dims,
                       absl::Span<const int64_t> reduced);

// For each dimension of `fine` the one of `coarse` that it is part of. Both
// have the same elements, and every cut of `coarse` is one of `fine`.
DimVector PartOf(absl::Span<const int64_t> fine,
                 absl::Span<const int64_t> coarse);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_CUTS_H_

// Broadcasts and reduces of one shape, made in another that joins dimensions
// which the first tells apart. What lies between the two is small: numbers of
// groups are spread over their members before they are broadcast, and members
// are summed to groups after all else has been reduced.
//
//   from {8, 4096, 32, 10}, to {8, 4096, 320}:
//   broadcast([8,32]), dimensions={0,2}
//     ==> broadcast(reshape([8,32,10] -> [8,320])), dimensions={0,2}
//   reduce(x), dimensions={1,3}
//     ==> reduce(reshape(reduce(x'), dimensions={1} -> [8,32,10])), {2}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_REGROUPING_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_REGROUPING_H_

#include <optional>

#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

class Regrouping {
 public:
  // Nothing where the dimensions cross each other: {6, 4} and {4, 6}.
  static std::optional<Regrouping> Make(absl::Span<const int64_t> from,
                                        absl::Span<const int64_t> to);

  // Whether part of a dimension of `to` is meant, and the rest is not: numbers
  // go through the small array.
  bool IsPartial(absl::Span<const int64_t> from_dimensions) const;

  // Of a broadcast to `from`; of a reduce of one array of `from`. True where
  // the array between is an eighth of the whole or less, and where values are
  // not rounded twice.
  bool CanBroadcast(const Instruction& broadcast) const;
  bool CanReduce(const Instruction& reduce) const;

  // The same values in `to`.
  Instruction* Broadcast(Instruction* broadcast, Builder* b) const;
  // The value of `reduce`, in its shape; `x` is its operand in `to`.
  Instruction* Reduce(Instruction* reduce, Instruction* x, Builder* b) const;

 private:
  // Dimensions of `to` of which some part is one of `from_dimensions`, or the
  // whole.
  DimVector Touched(absl::Span<const int64_t> from_dimensions) const;
  DimVector Covered(absl::Span<const int64_t> from_dimensions) const;

  DimVector to_;
  DimVector fine_;             // what both tell apart
  DimVector in_from_, in_to_;  // per fine dimension, whose part it is
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_REGROUPING_H_

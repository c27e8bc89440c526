// How long each value of a computation lives, over a given order of its
// instructions.
//
//   Liveness live(*module.entry(), module.entry()->PostOrder());
//   for (const LiveRange& r : live.ranges()) r.start, r.end, r.value
//
// Positions are indices into the order. A value lives from its instruction to
// its last use; get-tuple-element, tuple and bitcast make no new value: their
// operands live on through them. Parameters start at -1, what the root returns
// ends at the number of instructions. A value that an instruction writes in
// place (dynamic-update-slice, while state, aliased fusion outputs, async
// -done) continues that of its operand.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_LIVENESS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_LIVENESS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// One array of an instruction's result.
struct LiveRange {
  const Instruction* value = nullptr;  // who defines it
  ShapeIndex index;                    // which leaf of its result
  int start = 0, end = 0;              // first and last position, inclusive
  bool is_parameter = false;
  bool is_live_out = false;  // part of the root's value
  bool is_constant = false;
  const Shape& shape() const { return value->shape().At(index); }
};

class Liveness {
 public:
  Liveness(const Computation& computation,
           absl::Span<Instruction* const> order);

  // By (start, defining instruction, leaf).
  const std::vector<LiveRange>& ranges() const { return ranges_; }
  int position(const Instruction* instruction) const;
  // Number of the range that holds this leaf of this instruction's result.
  int RangeOf(const Instruction* instruction,
              absl::Span<const int64_t> index = {}) const;
  // Largest sum of `size(shape)` over ranges alive at one position.
  int64_t PeakBytes() const;

 private:
  std::vector<LiveRange> ranges_;
  absl::flat_hash_map<const Instruction*, int> positions_;
  // Range numbers of every leaf, in leaf order.
  absl::flat_hash_map<const Instruction*, std::vector<int>> leaves_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_LIVENESS_H_

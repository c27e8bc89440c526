// A movement in which each dimension moves by itself: slices, pads,
// concatenations, reversals, and transposes of major dimensions. Each result
// dimension is walked along one dimension of an operand.
//
//   ASSIGN_OR_RETURN(BoxMap map, BoxMap::Of(instruction));
//   map.sources[0].axes[1].start    // where row 0 of the result begins
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MAP_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

// Result index x in [lo, hi) is operand index (x * stride + start) / dilation,
// where that is whole; other elements come from elsewhere.
struct AxisMap {
  int from = 0;  // physical dimension of the operand
  int64_t lo = 0, hi = 0;
  int64_t start = 0;
  int64_t stride = 1;  // negative: reversed
  int64_t dilation = 1;
  int dynamic = -1;  // operand that holds the start, clamped; -1: `start`

  bool Shifts() const { return stride == 1 && dilation == 1; }
};

struct BoxSource {
  int operand = 0;
  PhysicalArray array;
  std::vector<AxisMap> axes;  // of the result's physical dimensions
};

struct BoxMap {
  PhysicalArray out;
  std::vector<BoxSource> sources;
  // Where no source is: this operand's value (a scalar); -1: everywhere is one.
  int fill = -1;

  // Unimplemented: rows or lanes that do more than shift, other instructions.
  static absl::StatusOr<BoxMap> Of(const hlo::Instruction& instruction);
  // Of a value inside of `fusion`, made of its operands. `fill` is 1 of a pad:
  // its own operand.
  static absl::StatusOr<BoxMap> OfValue(const hlo::Instruction& fusion,
                                        const hlo::Instruction& value);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MAP_H_

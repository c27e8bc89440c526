// The planes of a box movement as few axes: dimensions of size 1 left out,
// neighbours that move together joined.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PLANES_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PLANES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/movement/box_map.h"

namespace ptxla::lowering {

struct PlaneAxis {
  struct From {
    int64_t pitch = 0, extent = 1;  // in the operand
    AxisMap map;
  };
  int64_t size = 1;
  int64_t pitch = 0;  // in the result
  std::vector<From> from;

  int64_t dilation() const;
  bool reversed() const;
  // Neither gaps nor steps.
  bool Shifts() const;
};

// Every element of the axis is its operand's, in order.
bool Whole(const PlaneAxis& axis);

struct BoxPlanes {
  std::vector<PlaneAxis> axes;
  // Bytes into each operand at which the planes begin.
  std::vector<int64_t> offsets;

  static BoxPlanes Of(const BoxMap& map);
  // The same, but nothing is joined.
  static BoxPlanes Apart(const BoxMap& map);

  // Puts `count` axes that are Whole before all others, those with the fewest
  // planes. False if fewer are.
  bool PutSmallFirst(size_t count);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PLANES_H_

// The axes of a fusion's geometry once its streams are known: those that run on
// contiguously are merged, and each has units that hold whole registers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_AXES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_AXES_H_

#include <algorithm>
#include <cstdint>

#include "hlo_backend/lowering/fusion/geometry.h"

namespace ptxla::lowering {

// A stream is moved into place first, along its own dimensions.
inline bool Shifts(const Geometry& g) {
  return std::any_of(g.streams.begin(), g.streams.end(),
                     [](const Stream& s) { return s.shifted; });
}

// Axes along which every stream runs on are one; sets row_axis and
// column_axis. `reduced`: bit d: iteration dimension d is.
void MergeAxes(const Expression& e, uint32_t reduced, Geometry* geometry);

// Sets Axis::unit and core_unit. `instr`: the fusion.
void SetUnits(const hlo::Instruction& instr, uint32_t reduced,
              Geometry* geometry);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_AXES_H_

// What a fusion's steps cost, as the TPU compiler weighs them: by how often
// each dimension is cut.
//
//   sum of f32[8192,768] over its rows' lanes, on v6e: 1,024 x 6 tiles
//   cuts {2, 3}: 512 x 2 tiles, 6 x (200 + 1,024) and the rows' own
//   cuts {7, 1}: 160 x 6, as rows come in sixteens, 7 x (200 + 960)
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_COST_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_COST_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "chips/chip_spec.h"
#include "hlo_backend/lowering/cheapest_cuts.h"
#include "hlo_backend/lowering/fusion/step_blocks.h"

namespace ptxla::lowering {

// Base tiles of an axis that is cut into `steps`: whole units, groups of rows
// that share words, and rows of operands.
int64_t GroupedBlock(const Geometry& g, int axis, const StepLimits& limits,
                     int64_t steps);

class StepCost {
 public:
  StepCost(const chips::ChipSpec& chip, const Geometry& g,
           const StepLimits& limits);

  // Base tiles of the dimensions that can be cut: those that are merged into
  // an axis one by one, as the TPU compiler's windows know them apart.
  std::vector<int64_t> Sizes() const;
  // Base tiles of each axis.
  std::vector<int64_t> BlockOf(absl::Span<const int64_t> cuts) const;
  CutsCost Of(absl::Span<const int64_t> cuts) const;
  BlockCost OfTiles() const;

 private:
  // Steps of the busier core, of so many along each axis. `exchanges`: cores
  // share what is reduced.
  int64_t Steps(const std::vector<int64_t>& along, bool* exchanges) const;
  bool FillsPlanes(const std::vector<int64_t>& block) const;

  const Geometry& g_;
  const StepLimits& limits_;
  // Of steps with more tiles than the target, if not for groups of rows; a
  // step, beside its tiles; a row of values that are put on all lanes; a value
  // of a plane, whose sublanes and lanes are folded in every step that has a
  // part of it; what cores wait for that send one another parts of a sum, where
  // a tile takes a cycle.
  const double excess_, step_, row_, plane_, exchange_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_COST_H_

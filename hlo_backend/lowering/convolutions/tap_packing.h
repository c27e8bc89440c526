// Taps of a convolution with few features, side by side in the lanes of a K
// tile: an array multiplies 128 of them whether they are asked for or not. Of
// more features what whole tiles leave, if that is few.
//
// Taps along the last axis are put together first (a run), one packed plane for
// each place of the window; runs of several outer taps then share a tile:
//
//   3x3, 64 features:  runs {0,1} and {2}; 3 tiles of the first, and of the
//                      second one tile of two and one of one: 5 instead of 9
//   7x7, 3 features:   one run of 7 taps, 4 lanes each; 4 + 3 of them: 2
//                      instead of 49
//   3x3, 320 features: the rest of 64 as above, behind two whole tiles of each
//                      tap: 23 instead of 27
//
// The TPU compiler does the same in its emitters for few input features: 3x3
// with 64 features takes the time of 5 tiles there.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TAP_PACKING_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TAP_PACKING_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct TapPacking {
  // Taps first, first + 1 ... along the last axis.
  struct Run {
    int64_t first = 0, taps = 1;
  };
  // Outer taps first, first + 1 ... of one run.
  struct Tile {
    int run = 0;
    int64_t first = 0, count = 1;
  };
  int64_t tap_lanes = 0;    // of one tap; 0: nothing is packed
  int64_t whole_tiles = 0;  // of each tap, before what is packed
  std::vector<Run> runs;
  std::vector<Tile> tiles;

  bool packs() const { return tap_lanes > 0; }
  int64_t WholeFeatures() const { return 128 * whole_tiles; }
  int64_t RunLanes(int run) const { return runs[run].taps * tap_lanes; }
  int64_t TileLanes(size_t tile) const {
    return tiles[tile].count * RunLanes(tiles[tile].run);
  }

  // Nothing is packed where that would save no tile.
  static TapPacking Of(const ConvolutionForm& form, const ArrayShape& arrays);
};

// The scratch that packed planes take in a step with this block, in bytes, and
// the cycles of making them.
struct PackingCost {
  int64_t bytes = 0, cycles = 0;
};
PackingCost CostOfPacking(const TapPacking& packing,
                          const ConvolutionForm& form,
                          const ConvolutionBlock& block,
                          const isa::MachineModel& machine);

// A block's K tiles are packed ones, if the block has all taps.
bool IsPacked(const TapPacking& packing, const ConvolutionBlock& block);
// Tiles of 8 rows of a packed plane: of whole registers (16 rows), of which the
// last one may be half full.
int64_t PackedTilesAcross(const ConvolutionBlock& block);

// Where taps are packed, the window's rows that two steps share are packed
// twice: steps are as long as the TPU compiler's for few features (11,900 to
// 13,700 bundles on v5e).
inline constexpr int64_t kPackedSteps = 2;

// Bytes of a tile of 8 packed rows.
inline constexpr int64_t kPackedTile = 8 * 128 * 2;

// Planes of the outer axes in the slot; the same of results.
int64_t OuterPlanes(const ConvolutionForm& form, const ConvolutionBlock& block);
int64_t OuterOutputs(const ConvolutionBlock& block);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TAP_PACKING_H_

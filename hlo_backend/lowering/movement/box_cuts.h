// How the result of a movement is cut into the blocks of grid steps
// (box_mover.h): its planes, rows and lanes, each one block or several.
//
//   BoxCuts cuts(map, planes, /*resident=*/false, /*singles=*/0);
//   cuts.Choose(cuts.MostBytes());  // f32[1048576]: 8 blocks of 512 KiB
//   cuts[cuts.rows()].block         // 131072 elements
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_CUTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_CUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/movement/box_map.h"
#include "hlo_backend/lowering/movement/box_planes.h"

namespace ptxla::lowering {

// One dimension of the result and its cut into grid steps.
struct BoxCut {
  int64_t size = 1;   // elements
  int64_t unit = 1;   // blocks are whole numbers of these
  int64_t block = 1;  // elements
  int grid_dim = -1;  // -1: one block
};

class BoxCuts {
 public:
  static constexpr size_t kNone = ~size_t{0};

  BoxCuts() = default;
  // Of `map` and its `planes`, which outlive this. `resident`: the result is in
  // VMEM. The `singles` outermost planes go one by one.
  BoxCuts(const BoxMap& map, const BoxPlanes& planes, bool resident,
          int singles);

  // Planes first, then rows and lanes.
  size_t size() const { return cuts_.size(); }
  const std::vector<BoxCut>& all() const { return cuts_; }
  size_t rows() const { return cuts_.size() - 2; }
  size_t lanes() const { return cuts_.size() - 1; }
  BoxCut& operator[](size_t c) { return cuts_[c]; }
  const BoxCut& operator[](size_t c) const { return cuts_[c]; }
  // Elements of a row of `rows`: those of a 1-D array lie in rows of 128.
  int64_t row_unit() const;
  // The axis whose last block may be shorter though the result is in VMEM, or
  // kNone.
  size_t ragged() const { return ragged_; }

  // Bytes of a block to begin with; decides what is ragged.
  int64_t MostBytes();
  // Blocks of at most so many bytes.
  void Choose(int64_t most);

 private:
  int64_t BlockBytes() const;
  bool MayCut(size_t c, int64_t units, int64_t grid) const;
  bool HasBlocksOf(int64_t most);
  bool IsReversed(size_t c) const;

  const BoxMap* map_ = nullptr;
  const BoxPlanes* planes_ = nullptr;
  bool resident_ = false;
  size_t singles_ = 0;
  size_t ragged_ = kNone;
  std::vector<BoxCut> cuts_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_CUTS_H_

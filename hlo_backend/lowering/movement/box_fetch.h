// What a step of a box movement (box_mover.h) takes of one operand, and how it
// gets there: a window, or where the start is data or the operand is in VMEM, a
// DMA that the step starts itself. An operand in VMEM of one column of tiles is
// read where it lies, also planes that begin where data say.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_FETCH_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_FETCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/units.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/box_map.h"
#include "hlo_backend/lowering/movement/start_index.h"
#include "hlo_backend/lowering/movement/strip_box.h"
#include "hlo_backend/lowering/movement/strip_mover.h"

namespace ptxla::lowering {

// One axis of the movement. Pitch and extent matter for planes only.
struct FetchAxis {
  int64_t pitch = 0, extent = 1;  // of the operand's dimension
  AxisMap map;
  int64_t block = 1, size = 1;  // of the result, elements
  int grid_dim = -1;            // of the blocks; -1: there is one
  int64_t Steps() const { return grid_dim < 0 ? 1 : CeilOfRatio(size, block); }
  // Of the steps, the first and the last that take elements from the operand.
  int64_t FirstStep() const;
  int64_t LastStep() const;
};

class BoxFetch {
 public:
  // The planes begin `offset` bytes into the operand.
  BoxFetch(int arg, const PhysicalArray& array, int64_t offset)
      : arg_(arg), array_(array), offset_(offset) {}

  // Outer to inner, then rows (elements of a 1-D array), then lanes, which a
  // 1-D array lacks.
  void AddPlanes(const FetchAxis& axis) { planes_.push_back(axis); }
  void SetRows(const FetchAxis& axis) { rows_ = axis; }
  void SetLanes(const FetchAxis& axis) { lanes_ = axis; }

  // Adds what it needs to the tiling.
  absl::Status Place(const hlo::Instruction& i, Tiling* tiling);
  // Read where it lies in VMEM, and the last register of a strip (in the last
  // step along RowSteps(), a grid dimension, or -1), or the last strip, begins
  // in the array's last tile and is not whole.
  bool EndsInTileOfRows() const { return in_place_ && last_rows_; }
  bool EndsInTileOfLanes() const { return in_place_ && last_lanes_; }
  int RowSteps() const { return rows_.grid_dim; }
  // The code that has the strips ready; sets `from`, shifts and checks of
  // `move`, and splits its axes where the operand's elements lie apart.
  void Emit(codegen::CodeBuilder& b, int space, StripMove* move) const;

 private:
  // Result tiles (units) along one axis of `from`, in a step.
  struct Side {
    int64_t unit = 1;    // elements: a tile, or a plane
    int64_t origin = 0;  // of step 0
    int64_t advance = 0;
    int64_t phase = 0;  // elements into the first tile
  };
  Side SideOf(const FetchAxis& axis, int64_t unit) const;
  int64_t RowTile() const;
  void MakeBox();
  void PlaceWindow(Tiling* tiling);
  bool CanReadInPlace();
  bool HasItsTiles(size_t a, bool* last) const;
  void EmitInPlace(codegen::CodeBuilder& b, codegen::Sca base) const;
  absl::Status PlaceDma(const hlo::Instruction& i, Tiling* tiling);
  void EmitDma(codegen::CodeBuilder& b, codegen::Sca base,
               StripMove* move) const;
  codegen::Sca StartTile(codegen::CodeBuilder& b, size_t a, codegen::Sca base,
                         StripMove* move) const;
  codegen::Sca NearestTaken(codegen::CodeBuilder& b, const FetchAxis& axis,
                            const Side& side, codegen::Sca tile) const;
  StripCheck Check(codegen::CodeBuilder& b, const FetchAxis& axis) const;
  std::vector<const FetchAxis*> Axes() const;

  int arg_;
  PhysicalArray array_;
  int64_t offset_;
  std::vector<FetchAxis> planes_;
  FetchAxis rows_, lanes_;
  std::vector<Side> sides_;  // planes, rows, lanes
  StripBox box_;
  bool own_dma_ = false;
  bool in_place_ = false;  // the operand's tiles are strips already
  bool last_rows_ = false, last_lanes_ = false;
  int window_ = -1;
  std::vector<StartIndex> starts_;  // by axis, of those that data give
  StripDma dma_;
  int64_t scratch_ = 0;  // where the box begins
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_FETCH_H_

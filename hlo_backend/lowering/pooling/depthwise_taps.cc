#include "hlo_backend/lowering/pooling/depthwise_taps.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

absl::StatusOr<DepthwiseTaps> DepthwiseTaps::Of(const PoolForm& form) {
  DepthwiseTaps t;
  const hlo::Instruction& conv = *form.instruction;
  ASSIGN_OR_RETURN(t.weights_, PhysicalArray::Of(conv.operand(1)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray in,
                   PhysicalArray::Of(conv.operand(0)->shape()));
  const hlo::ConvDims& d = conv.attrs<hlo::ConvAttrs>().dims;
  const int rank = t.weights_.rank();
  bool in_order = t.weights_.dims[rank - 2] == d.kernel_input_feature &&
                  t.weights_.dims[rank - 1] == d.kernel_output_feature;
  for (int p = 0; p + 2 < rank; ++p) {
    in_order &= t.weights_.dims[p] == p;
  }
  if (!in_order || t.weights_.rows != 1) {
    return absl::UnimplementedError(absl::StrCat(
        "%", conv.name(), ": a layout of depthwise weights is not lowered"));
  }
  t.arg_ = conv.operand(0) == conv.operand(1) ? 0 : 1;
  t.taps_ = form.Taps();
  t.column_tiles_ = in.tiles_across;
  t.tiles_per_register_ = isa::kVregBytes / in.tile_bytes();
  int64_t tiles = t.column_tiles_;
  while (tiles % t.tiles_per_register_ != 0) tiles += t.column_tiles_;
  t.period_ = tiles / t.tiles_per_register_;
  return t;
}

int64_t DepthwiseTaps::ScratchBytes() const {
  return taps_ * period_ * isa::kVregBytes;
}

void DepthwiseTaps::AddWindow(Tiling* tiling) {
  isa::Window w;
  w.arg = arg_;
  isa::WindowDim all;
  all.hbm_stride = all.vmem_stride = weights_.bytes();
  w.dims = {all};
  w.inner_bytes = weights_.bytes();
  w.slots = 1;
  w.slot_bytes = RoundUpTo<int64_t>(weights_.bytes(), isa::kVregBytes);
  window_ = static_cast<int>(tiling->windows.size());
  tiling->windows.push_back(std::move(w));
}

void DepthwiseTaps::Spread(CodeBuilder* b) {
  b->NewBlock("addresses");
  const Sca from = b->GlobalSca();
  b->WindowAddress(from, window_);
  spread_ = b->GlobalSca();
  b->ScratchAddress(spread_, 0);
  b->SetBank(spread_, CodeBuilder::kAbsoluteBanks, 0);
  const auto rows = static_cast<int>(8 / tiles_per_register_);
  for (int64_t tap = 0; tap < taps_; ++tap) {
    b->NewBlock("weights");
    for (int64_t k = 0; k < period_; ++k) {
      Vec all;
      for (int64_t n = 0; n < tiles_per_register_; ++n) {
        const int64_t column = (k * tiles_per_register_ + n) % column_tiles_;
        const Vec row = b->LoadRow(
            kWeights, from,
            static_cast<int32_t>(weights_.TileOffset(tap, 0, column)));
        const int at = static_cast<int>(n) * rows;
        all = n == 0 ? row
                     : b->Select(b->Range(0, isa::kLanes, at, at + rows), row,
                                 all);
      }
      // The lower half of a word is the row that exists.
      if (weights_.packing == 2) all = b->BinaryImm(Opcode::kVshll, all, 16);
      b->Store(kSpread, spread_,
               static_cast<int32_t>((tap * period_ + k) * isa::kVregBytes),
               all);
    }
  }
}

Vec DepthwiseTaps::Load(CodeBuilder& b, int64_t tap, int64_t content,
                        int rows) const {
  const int64_t period = period_ * isa::kVregBytes;
  return LoadPiece(b, kSpread, spread_, tap * period + content % period, rows);
}

}  // namespace ptxla::lowering

#include "hlo_backend/lowering/convolutions/turned_input.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;
using isa::Slot;

// Codegen spaces of the window and of what is turned.
constexpr int kWindow = ConvolutionOperands::kInput;
// Registers of one block of bundles: as many as hide the latency of loads.
constexpr int64_t kInBlock = 32;
// Cycles from a block's last load to its last store, about: a load, three
// vector operations, the store.
constexpr int64_t kBlockDrain = 10;

// Sizes of what a step turns, and where it lies in scratch: planes of the axes,
// tiles of lanes, tiles of the batch.
struct Turned {
  hlo::PrimitiveType from, to;
  std::vector<int64_t> planes;  // by axis
  int64_t lane_tiles = 1, batch_tiles = 1;

  static Turned Of(const ConvolutionForm& form, const ConvolutionBlock& block) {
    Turned t;
    t.from = form.turned->type;
    t.to = form.product.lhs.type;
    for (const AxisBlock& axis : block.axes) t.planes.push_back(axis.planes);
    t.lane_tiles = CeilOfRatio<int64_t>(form.turned->columns, 128);
    t.batch_tiles = block.row_tiles;
    return t;
  }

  bool Packs() const { return to == hlo::PrimitiveType::kBf16; }
  int64_t TileBytes() const { return 8 * 128 * hlo::BitWidth(to) / 8; }
  int64_t LanePitch() const { return batch_tiles * TileBytes(); }
  int64_t PlanePitch(size_t axis) const {
    int64_t pitch = lane_tiles * LanePitch();
    for (size_t a = planes.size(); --a > axis;) pitch *= planes[a];
    return pitch;
  }
  int64_t Planes() const {
    int64_t n = 1;
    for (const int64_t p : planes) n *= p;
    return n;
  }
  // The register of a last tile that stands alone reaches beyond it.
  int64_t Bytes() const {
    return Planes() * lane_tiles * LanePitch() + isa::kVregBytes;
  }
  // That are stored: one tile, or two packed ones.
  int64_t Registers() const {
    return Planes() * lane_tiles *
           (Packs() ? CeilOfRatio<int64_t>(batch_tiles, 2) : batch_tiles);
  }
};

// The code of one block.
class Turner {
 public:
  Turner(const Turned& turned, const isa::Window& window, Sca from, Sca to,
         CodeBuilder* b)
      : t_(turned), window_(window), from_(from), to_(to), b_(*b) {}

  void Run() {
    const size_t last = t_.planes.size() - 1;
    const bool pairs = t_.from == hlo::PrimitiveType::kBf16;
    std::vector<int64_t> plane(t_.planes.size(), 0);
    const int64_t batch_step = t_.Packs() ? 2 : 1;
    while (true) {
      for (int64_t lane = 0; lane < t_.lane_tiles; ++lane) {
        for (int64_t tile = 0; tile < t_.batch_tiles; tile += batch_step) {
          if (in_block_ == 0) b_.NewBlock("turning");
          in_block_ = (in_block_ + (pairs ? 2 : 1)) % kInBlock;
          pairs ? MovePair(plane, lane, tile) : Move(plane, lane, tile);
        }
      }
      size_t a = last + 1;
      while (a-- > 0) {
        plane[a] += a == last && pairs ? 2 : 1;
        if (plane[a] < t_.planes[a]) break;
        plane[a] = 0;
        if (a == 0) return;
      }
    }
  }

 private:
  int64_t BatchPitch() const { return window_.dims[0].vmem_stride; }

  // Of the window's word that holds the row `plane` of the batch's first
  // member in tile `tile`.
  int64_t In(const std::vector<int64_t>& plane, int64_t lane,
             int64_t tile) const {
    const size_t last = plane.size() - 1;
    int64_t at = 8 * tile * BatchPitch();
    for (size_t a = 0; a < last; ++a) {
      at += plane[a] * window_.dims[a + 1].vmem_stride;
    }
    const int64_t row = plane[last] % 8;
    const int64_t rows_per_word = 32 / hlo::BitWidth(t_.from);
    return at + plane[last] / 8 * window_.dims[last + 1].vmem_stride +
           lane * window_.dims[last + 2].vmem_stride +
           row / rows_per_word * isa::kRowBytes;
  }
  int64_t Out(const std::vector<int64_t>& plane, int64_t lane,
              int64_t tile) const {
    int64_t at = lane * t_.LanePitch() + tile * t_.TileBytes();
    for (size_t a = 0; a < plane.size(); ++a) at += plane[a] * t_.PlanePitch(a);
    return at;
  }

  Vec Load(int64_t offset, int64_t stride) {
    return b_.LoadStrided(kWindow, from_, static_cast<int32_t>(offset),
                          static_cast<int32_t>(stride), 1);
  }

  // A tile, or two packed ones, of which the second may not be in the block.
  void Store(int64_t offset, Vec value, bool half) {
    if (half) {
      b_.StoreMasked(codegen::kTurnedInputSpace, to_,
                     static_cast<int32_t>(offset), value,
                     b_.Range(0, isa::kLanes, 0, isa::kSublanes / 2));
    } else {
      b_.Store(codegen::kTurnedInputSpace, to_, static_cast<int32_t>(offset),
               value);
    }
  }

  void Move(const std::vector<int64_t>& plane, int64_t lane, int64_t tile) {
    const Vec low = Load(In(plane, lane, tile), BatchPitch());
    const int64_t to = Out(plane, lane, tile);
    if (!t_.Packs()) {
      Store(to, low, false);
      return;
    }
    const bool half = tile + 1 == t_.batch_tiles;
    const Vec high = half ? low : Load(In(plane, lane, tile + 1), BatchPitch());
    Store(to, b_.Binary(Opcode::kVpackCBf16, low, high), half);
  }

  // Two rows of the window, which share words, of 16 members of the batch.
  void MovePair(std::vector<int64_t> plane, int64_t lane, int64_t tile) {
    const int64_t in = In(plane, lane, tile);
    const Vec even = Load(in, 2 * BatchPitch());
    const Vec odd = Load(in + BatchPitch(), 2 * BatchPitch());
    constexpr uint32_t kLow = 0xFFFFu, kHigh = 0xFFFF0000u;
    Store(Out(plane, lane, tile),
          b_.Binary(Opcode::kVor, b_.BinaryImm(Opcode::kVand, even, kLow),
                    b_.BinaryImm(Opcode::kVshll, odd, 16)),
          false);
    if (++plane.back() == t_.planes.back()) return;
    Store(Out(plane, lane, tile),
          b_.Binary(Opcode::kVor, b_.BinaryImm(Opcode::kVshrl, even, 16),
                    b_.BinaryImm(Opcode::kVand, odd, kHigh)),
          false);
  }

  const Turned& t_;
  const isa::Window& window_;
  const Sca from_, to_;
  CodeBuilder& b_;
  int64_t in_block_ = 0;
};

// The scratch as a window whose outer dimensions are the axes.
isa::Window PlanesOf(const Turned& t) {
  isa::Window w;
  for (size_t a = 0; a < t.planes.size(); ++a) {
    isa::WindowDim d;
    d.block = t.planes[a];
    d.vmem_stride = t.PlanePitch(a);
    w.dims.push_back(d);
  }
  return w;
}

}  // namespace

bool CanTurn(const ConvolutionForm& form, const ConvolutionBlock& block) {
  return !block.axes.back().Moves() &&
         (form.turned->type != hlo::PrimitiveType::kBf16 ||
          block.row_tiles % 2 == 0);
}

int AddTurnedWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const ConvolutionGrid& grid, Tiling* tiling) {
  const MatrixView& v = *form.turned;
  isa::Window w;
  w.arg = form.product.lhs_arg;
  isa::WindowDim batch;
  batch.block = 8 * block.row_tiles;
  batch.extent = form.rows;
  batch.hbm_stride = form.batch_pitch;
  batch.grid_dim = grid.rows;
  w.dims.push_back(batch);
  for (size_t a = 0; a + 1 < block.axes.size(); ++a) {
    w.dims.push_back(InputPlanes(form, block, grid, a));
  }
  isa::WindowDim rows, lanes;
  rows.block = rows.extent = CeilOfRatio<int64_t>(form.axes.back().in, 8);
  rows.hbm_stride = v.row_stride;
  lanes.block = lanes.extent = CeilOfRatio<int64_t>(v.columns, 128);
  lanes.hbm_stride = v.tile_bytes;
  w.dims.push_back(rows);
  w.dims.push_back(lanes);
  w.inner_bytes = v.tile_bytes;
  return AddPackedSlot(v, std::move(w), grid, tiling);
}

TurnCost CostOfTurn(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const isa::MachineModel& machine) {
  const Turned t = Turned::Of(form, block);
  const int64_t registers = t.Registers();
  // Of a register: two words of two rows each, or two tiles that are packed.
  const bool pairs = t.from == hlo::PrimitiveType::kBf16;
  const int64_t loads = pairs || !t.Packs() ? 1 : 2;
  const int64_t vectors = pairs ? 3 : t.Packs() ? 1 : 0;
  const auto cycles = [&](int64_t count, Slot slot) {
    return CeilOfRatio<int64_t>(count * registers, machine.Slots(slot));
  };
  return {t.Bytes(),
          std::max({cycles(loads, Slot::kLoad), cycles(1, Slot::kStore),
                    cycles(vectors, Slot::kVector)}) +
              CeilOfRatio(registers, kInBlock) * kBlockDrain};
}

ConvolutionInput EmitTurn(const ConvolutionForm& form,
                          const ConvolutionBlock& block,
                          const ConvolutionGrid& grid,
                          const isa::Window& window, int number,
                          int64_t scratch, CodeBuilder* b) {
  const Turned t = Turned::Of(form, block);
  b->NewBlock("addresses");
  const Sca from = b->GlobalSca();
  b->WindowAddress(from, number);
  b->SetBank(from, CodeBuilder::kAbsoluteBanks, 0);
  ConvolutionInput input;
  BlockPlace& place = input.place;
  place.base = b->GlobalSca();
  b->ScratchAddress(place.base, static_cast<int32_t>(scratch));
  b->SetBank(place.base, CodeBuilder::kAbsoluteBanks,
             static_cast<int32_t>(scratch));
  place.space = codegen::kTurnedInputSpace;
  place.type = t.to;
  place.row_bytes = 128 * hlo::BitWidth(t.to) / 8;
  place.row_pitch = t.TileBytes();
  place.lane_pitch = t.LanePitch();
  for (size_t a = 0; a < t.planes.size(); ++a) {
    input.plane_pitch.push_back(t.PlanePitch(a));
  }
  Turner(t, window, from, place.base, b).Run();
  FillBorders(form, block, grid, PlanesOf(t), place, b);
  b->NewBlock("addresses");
  return input;
}

}  // namespace ptxla::lowering

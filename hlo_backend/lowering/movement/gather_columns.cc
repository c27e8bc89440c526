// EmitColumnGather: single columns of a table, each with the tiles that it is
// in.
//
// The tiles of 128 columns come by one DMA for each column that is asked for,
// or lie in VMEM; one lane of them is broadcast, and put into the lane of the
// result's register where it belongs.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/column_tiles.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Columns that one grid step gathers, at most: their DMAs are in flight at
// once. ASSUMED, like the sizes of code below.
constexpr int64_t kMostColumns = 1024;
// Of a column, registers that are put together at a time.
constexpr int64_t kMostTilesDown = 16;
constexpr int kUnroll = 32;
// Of short columns more are put together in a block, which waits for the last
// of them once.
constexpr int64_t kMostColumnTiles = 128;
enum Space { kResult, kTable };

class ColumnGather {
 public:
  ColumnGather(const PhysicalArray& table, const PhysicalArray& out,
               const RowIndex& index)
      : table_(table), out_(out), index_(index), column_(table_) {}

  absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                   const hlo::Instruction& i) {
    ASSIGN_OR_RETURN(args_, KernelArgs(i));
    if (!column_.LieAlike(out_) || table_.tiles_down > kMostTilesDown) {
      return absl::UnimplementedError(
          absl::StrCat("%", i.name(), ": columns that lie otherwise"));
    }
    for (int64_t tiles = kMostColumns / isa::kLanes; tiles > 0; --tiles) {
      // A result in VMEM has no room for a last step that is not full.
      if (ResultInVmem() && out_.tiles_across % tiles != 0) continue;
      if (tiles > out_.tiles_across) continue;
      tiles_ = tiles;
      const Tiling t = Cut();
      if (2 * index_.SlotBytes(tiles_ * isa::kLanes) >
              context.chip.smem().count() / 2 ||
          VmemBytes(context, t) > VmemBudget(context)) {
        continue;
      }
      return FrameKernel(context, t);
    }
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": columns too long for VMEM"));
  }

 private:
  bool TableInVmem() const { return args_[0].space == isa::Space::kVmem; }
  bool ResultInVmem() const { return args_[2].space == isa::Space::kVmem; }
  int64_t columns() const { return tiles_ * isa::kLanes; }
  int Unroll() const {
    int64_t unroll = kMostColumnTiles;
    while (unroll > kUnroll && unroll * table_.tiles_down > kMostColumnTiles) {
      unroll /= 2;
    }
    return static_cast<int>(unroll);
  }

  Tiling Cut() {
    Tiling t;
    t.args = args_;
    const int64_t steps = CeilOfRatio(out_.tiles_across, tiles_);
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    index_.SetSteps(columns(), steps);
    index_window_ = index_.AddWindow(1, columns(), steps, &t);
    result_window_ = static_cast<int>(t.windows.size());
    t.windows.push_back(
        column_.WindowOf(out_, 2, isa::Direction::kOut, tiles_, steps > 1));
    t.work.hbm_bytes = args_[1].bytes;
    if (!ResultInVmem()) t.work.hbm_bytes += args_[2].bytes;
    if (!TableInVmem()) {
      // The last register of a column may reach beyond its tiles.
      t.scratch_bytes = columns() * column_.bytes() + isa::kVregBytes;
      t.descriptors.push_back(column_.Transfer(0, /*to_arg=*/false));
      t.num_semaphores = 1;
      t.work.hbm_bytes += out_.columns * column_.bytes();
    }
    t.note = absl::StrCat("columns, ", columns(), " per step, table ",
                          TableInVmem() ? "in VMEM" : "by tiles");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  // The column that is asked for `beyond` the one whose number is at `address`.
  Sca Column(CodeBuilder& b, Sca address, int beyond) const {
    return index_.ClampedAt(b, address, beyond, table_.columns);
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    from_ = b.GlobalSca();
    const Sca to = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(to, result_window_);
    if (TableInVmem()) {
      b.ArgAddress(from_, 0);
    } else {
      b.ScratchAddress(from_, 0);
      Fetch(b);
    }
    const int64_t pitch = ResultInVmem() ? out_.tile_bytes() : column_.bytes();
    const Sca first = b.BeginLoop(tiles_, isa::kLanes);
    std::vector<Vec> made;
    b.NewBlock("no columns yet");
    for (int64_t r = 0; r < out_.tiles_down; ++r) {
      made.push_back(b.GlobalVec());
      b.Move(made.back(), b.Imm(0));
    }
    const int64_t unroll = Unroll();
    const Sca lane = b.BeginLoop(isa::kLanes / unroll, unroll);
    Columns(b, first, lane, made);
    b.EndLoop();
    b.NewBlock("128 columns");
    const Sca at = b.SAdd(to, b.SMulImm(ColumnTiles::TileOf(b, first),
                                        static_cast<int32_t>(pitch)));
    const int64_t down = ResultInVmem() ? out_.row_stride() : out_.tile_bytes();
    const auto rows = static_cast<int>(out_.tile_bytes() / isa::kRowBytes);
    for (int64_t r = 0; r < out_.tiles_down; ++r) {
      b.StoreMasked(kResult, at, static_cast<int32_t>(r * down), made[r],
                    b.Range(0, isa::kLanes, 0, rows));
    }
    b.EndLoop();
    return absl::OkStatus();
  }

  void Fetch(CodeBuilder& b) {
    const Sca first = b.BeginLoop(columns() / kUnroll, kUnroll);
    b.NewBlock("fetch tiles");
    const Sca numbers = index_.AddressOf(b, indices_, first);
    for (int u = 0; u < kUnroll; ++u) {
      const Sca tile = ColumnTiles::TileOf(b, Column(b, numbers, u));
      ColumnTiles::Start(b, 0, column_.Place(b, tile),
                         column_.Slot(b, from_, b.SAddImm(first, u)));
    }
    b.EndLoop();
    b.NewBlock("wait for tiles", codegen::BlockMode::kInOrder);
    AwaitBytes(b, columns() * column_.bytes());
  }

  // Columns first + lane ... in lanes `lane` ... of the registers `made`.
  void Columns(CodeBuilder& b, Sca first, Sca lane,
               const std::vector<Vec>& made) const {
    b.NewBlock("columns");
    const Vec behind =
        b.Binary(Opcode::kVsubS32,
                 b.BinaryImm(Opcode::kVand, b.LaneSequence(), isa::kLanes - 1),
                 b.Splat(lane));
    const int64_t down =
        TableInVmem() ? table_.row_stride() : table_.tile_bytes();
    std::vector<Vec> all = made;
    const Sca start = b.SAdd(first, lane);
    const Sca numbers = index_.AddressOf(b, indices_, start);
    for (int u = 0; u < Unroll(); ++u) {
      const Sca column = Column(b, numbers, u);
      const Sca at =
          TableInVmem()
              ? b.SAdd(from_,
                       b.SMulImm(ColumnTiles::TileOf(b, column),
                                 static_cast<int32_t>(table_.tile_bytes())))
              : column_.Slot(b, from_, b.SAddImm(start, u));
      const Sca its_lane = b.SBinaryImm(Opcode::kSand, column, isa::kLanes - 1);
      const auto mine = b.CompareImm(Opcode::kVcmpEqS32, behind, u);
      for (size_t r = 0; r < all.size(); ++r) {
        const Vec words = b.Load(kTable, at, static_cast<int32_t>(r * down));
        all[r] = b.Select(mine, b.BroadcastLane(words, its_lane), all[r]);
      }
    }
    for (size_t r = 0; r < all.size(); ++r) b.Move(made[r], all[r]);
  }

  const PhysicalArray table_, out_;
  RowIndex index_;
  const ColumnTiles column_;
  std::vector<isa::KernelArg> args_;
  int64_t tiles_ = 0;  // of 128 columns, in a step
  int index_window_ = 0, result_window_ = 0;
  Sca indices_, from_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitColumnGather(const KernelContext& context,
                                             const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::OfGather(i));
  return ColumnGather(table, out, index).Emit(context, i);
}

}  // namespace ptxla::lowering

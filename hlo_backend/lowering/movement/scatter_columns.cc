// EmitColumnScatter: columns of words of a table in HBM, in batches.
//
// The tiles of 128 columns that each update falls into are fetched, one lane of
// them changed, and the tiles written back, many in flight. Updates of a batch
// that fall into the same tiles share the slot of the first (row_owners.h).
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/column_tiles.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/row_owners.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Columns of a step, whose DMAs are in flight at once; ASSUMED.
constexpr int64_t kMostColumns = 256;
constexpr int kUnroll = 8;
constexpr int kTable = 0, kUpdates = 1;  // codegen spaces
constexpr int kResultArg = 3;
constexpr int kFetch = 0, kStore = 1;  // descriptors

class ColumnScatter {
 public:
  ColumnScatter(const PhysicalArray& table, const PhysicalArray& updates,
                RowIndex index, ScatterCombine combine)
      : table_(table),
        updates_(updates),
        index_(index),
        combine_(combine),
        column_(table_) {}

  absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                   const hlo::Instruction& i) {
    ASSIGN_OR_RETURN(args_, KernelArgs(i));
    if (table_.bits != 32 || !column_.LieAlike(updates_) ||
        args_[0].space != isa::Space::kHbm) {
      return absl::UnimplementedError(
          absl::StrCat("%", i.name(), ": columns that lie otherwise"));
    }
    for (tiles_ = kMostColumns / isa::kLanes; tiles_ > 0; --tiles_) {
      if (tiles_ > updates_.tiles_across) continue;
      for (const bool hashed : {false, true}) {
        owners_.emplace(table_.tiles_across, columns(), hashed);
        const Tiling t = Cut();
        const isa::Window& indices = t.windows[index_window_];
        if (indices.slots * indices.slot_bytes > context.chip.smem().count() ||
            VmemBytes(context, t) > VmemBudget(context)) {
          continue;
        }
        return FrameKernel(context, t);
      }
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("%", i.name(), ": no room for a batch of columns"));
  }

 private:
  int64_t columns() const { return tiles_ * isa::kLanes; }

  Tiling Cut() {
    Tiling t;
    t.args = args_;
    const int64_t steps = CeilOfRatio(updates_.tiles_across, tiles_);
    t.grid = {steps};
    index_window_ = index_.AddWindow(1, columns(), steps, &t);
    // Owners stand behind the indices.
    t.windows[index_window_].slot_bytes += owners_->SmemBytes();
    update_window_ = static_cast<int>(t.windows.size());
    t.windows.push_back(
        column_.WindowOf(updates_, 2, isa::Direction::kIn, tiles_, steps > 1));
    t.scratch_bytes = (columns() + 1) * column_.bytes() + isa::kVregBytes;
    t.num_semaphores = 1;
    t.descriptors.push_back(column_.Transfer(0, /*to_arg=*/false));
    t.descriptors.push_back(column_.Transfer(kResultArg, /*to_arg=*/true));
    t.work.flops = combine_.op ? updates_.columns * table_.rows : 0;
    t.work.hbm_bytes = args_[1].bytes + args_[2].bytes +
                       2 * updates_.columns * column_.bytes();
    t.note = absl::StrCat("columns, ", columns(), " in flight");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  // The column of update `n`, none beyond the last update.
  Sca Column(CodeBuilder& b, Sca n) const {
    const Sca at = index_.LoadRaw(b, indices_, n);
    if (updates_.columns % columns() == 0) return at;
    const Sca last = b.SImm(static_cast<int32_t>(updates_.columns - 1));
    return b.SBinary(
        Opcode::kSor, at,
        b.SBinaryImm(Opcode::kSshra,
                     b.SBinary(Opcode::kSsub, last, b.SAdd(first_, n)), 31));
  }
  Pred Exists(CodeBuilder& b, Sca column) const {
    return b.SCompareImm(Opcode::kScmpLtU, column,
                         static_cast<int32_t>(table_.columns));
  }
  // A tile of the table in any case.
  Sca SomeTile(CodeBuilder& b, Sca n) const {
    const Sca column = Column(b, n);
    return ColumnTiles::TileOf(b, b.SSelectImm(Exists(b, column), column, 0));
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    values_ = b.GlobalSca();
    slots_ = b.GlobalSca();
    first_ = b.GlobalSca();
    const Sca owners = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(values_, update_window_);
    b.ScratchAddress(slots_, 0);
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first_, b.SMulImm(step, static_cast<int32_t>(columns())));
    b.SMove(
        owners,
        b.SAddImm(indices_, static_cast<int32_t>(index_.SlotBytes(columns()))));
    owners_->Find(b, owners, [&](Sca n) { return SomeTile(b, n); });
    ForColumns(b, "fetch tiles", [&](Sca n) {
      ColumnTiles::Start(b, kFetch, column_.Place(b, SomeTile(b, n)),
                         column_.Slot(b, slots_, n));
    });
    Await(b);
    ForColumns(b, "change columns", [&](Sca n) { Change(b, owners, n); });
    ForColumns(b, "store tiles", [&](Sca n) {
      const Sca tile = SomeTile(b, n);
      ColumnTiles::Start(
          b, kStore, column_.Slot(b, slots_, owners_->Of(b, owners, n, tile)),
          column_.Place(b, tile));
    });
    Await(b);
    return absl::OkStatus();
  }

  void Await(CodeBuilder& b) const {
    b.NewBlock("wait for tiles", codegen::BlockMode::kInOrder);
    AwaitBytes(b, columns() * column_.bytes());
  }

  // What goes nowhere changes a slot that is not stored.
  void Change(CodeBuilder& b, Sca owners, Sca n) const {
    const Sca column = Column(b, n);
    const Pred exists = Exists(b, column);
    const Sca inside = b.SSelectImm(exists, column, 0);
    const Sca owner = owners_->Of(b, owners, n, ColumnTiles::TileOf(b, inside));
    const Sca at = column_.Slot(
        b, slots_,
        b.SSelectImm(exists, owner, static_cast<int32_t>(columns())));
    const Sca lane = b.SBinaryImm(Opcode::kSand, inside, isa::kLanes - 1);
    const Sca its_lane = b.SBinaryImm(Opcode::kSand, n, isa::kLanes - 1);
    const Sca update =
        b.SAdd(values_, b.SMulImm(ColumnTiles::TileOf(b, n),
                                  static_cast<int32_t>(column_.bytes())));
    const auto mine =
        b.Compare(Opcode::kVcmpEqS32,
                  b.BinaryImm(Opcode::kVand, b.LaneSequence(), isa::kLanes - 1),
                  b.Splat(lane));
    // Of tiles of fewer rows a register reaches into what lies behind.
    const auto rows =
        b.Range(0, isa::kLanes, 0,
                static_cast<int>(table_.tile_bytes() / isa::kRowBytes));
    const auto words = table_.tile_rows < isa::kSublanes
                           ? b.MaskBinary(Opcode::kVmand, mine, rows)
                           : mine;
    for (int64_t r = 0; r < table_.tiles_down; ++r) {
      const auto tile = static_cast<int32_t>(r * table_.tile_bytes());
      const Vec value =
          b.BroadcastLane(b.Load(kUpdates, update, tile), its_lane);
      b.StoreMasked(kTable, at, tile,
                    combine_.Emit(b, b.Load(kTable, at, tile), value), words);
    }
  }

  template <class Fn>
  void ForColumns(CodeBuilder& b, const char* label, Fn body) const {
    const Sca k = b.BeginLoop(columns() / kUnroll, kUnroll);
    b.NewBlock(label);
    for (int u = 0; u < kUnroll; ++u) body(b.SAddImm(k, u));
    b.EndLoop();
  }

  const PhysicalArray table_, updates_;
  const RowIndex index_;
  const ScatterCombine combine_;
  const ColumnTiles column_;
  std::vector<isa::KernelArg> args_;
  int64_t tiles_ = 0;  // of 128 updates, in a step
  std::optional<RowOwners> owners_;
  int index_window_ = 0, update_window_ = 0;
  Sca indices_, values_, slots_, first_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitColumnScatter(const KernelContext& context,
                                              const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const PhysicalArray updates,
                   PhysicalArray::Of(i.operand(2)->shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::Of(*i.operand(1)));
  ASSIGN_OR_RETURN(const ScatterCombine combine, ScatterCombine::Of(i));
  return ColumnScatter(table, updates, index, combine).Emit(context, i);
}

}  // namespace ptxla::lowering

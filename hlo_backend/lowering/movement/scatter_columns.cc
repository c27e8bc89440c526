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

constexpr int64_t kMostColumns = 256;  // in flight
constexpr int kUnroll = 8;
constexpr int kTable = 0, kUpdates = 1;  // codegen spaces
constexpr int kResultArg = 3;

class ColumnScatter {
 public:
  ColumnScatter(const PhysicalArray& table, const PhysicalArray& updates,
                RowIndex index, ScatterCombine combine)
      : table_(table), updates_(updates), index_(index), combine_(combine) {}

  absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                   const hlo::Instruction& i) {
    ASSIGN_OR_RETURN(args_, KernelArgs(i));
    if (table_.bits != 32 || table_.tile_bytes() != updates_.tile_bytes() ||
        table_.tiles_down != updates_.tiles_down || table_.dims[0] != 0 ||
        updates_.dims[0] != 0 || args_[0].space != isa::Space::kHbm) {
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
  int64_t ColumnBytes() const {
    return table_.tiles_down * table_.tile_bytes();
  }

  int Transfer(bool to_table, Tiling* t) const {
    isa::DmaDescriptor d;
    const int64_t there = table_.row_stride(), here = table_.tile_bytes();
    (to_table ? d.dst_arg : d.src_arg) = to_table ? kResultArg : 0;
    d.arg_shift = table_.place_shift();
    d.dims = {
        {table_.tiles_down, to_table ? here : there, to_table ? there : here}};
    d.inner_bytes = here;
    t->num_semaphores = 1;
    t->descriptors.push_back(std::move(d));
    return static_cast<int>(t->descriptors.size()) - 1;
  }

  Tiling Cut() {
    Tiling t;
    t.args = args_;
    const int64_t steps = CeilOfRatio(updates_.tiles_across, tiles_);
    t.grid = {steps};
    index_window_ = index_.AddWindow(1, columns(), steps, &t);
    // Owners stand behind the indices.
    t.windows[index_window_].slot_bytes += owners_->SmemBytes();
    isa::Window w;
    w.arg = 2;
    isa::WindowDim across, down;
    across.block = tiles_;
    across.extent = updates_.tiles_across;
    across.hbm_stride = updates_.tile_bytes();
    across.vmem_stride = ColumnBytes();
    across.grid_dim = steps > 1 ? 0 : -1;
    down.block = down.extent = updates_.tiles_down;
    down.hbm_stride = updates_.row_stride();
    down.vmem_stride = updates_.tile_bytes();
    w.dims = {across, down};
    w.inner_bytes = updates_.tile_bytes();
    w.slots = steps > 1 ? 2 : 1;
    // The last register of a column may reach beyond its tiles.
    w.slot_bytes = RoundUpTo<int64_t>(tiles_ * ColumnBytes(), isa::kVregBytes) +
                   isa::kVregBytes;
    update_window_ = static_cast<int>(t.windows.size());
    t.windows.push_back(std::move(w));
    t.scratch_bytes = (columns() + 1) * ColumnBytes() + isa::kVregBytes;
    fetch_ = Transfer(/*to_table=*/false, &t);
    store_ = Transfer(/*to_table=*/true, &t);
    t.work.flops = combine_.op ? updates_.columns * table_.rows : 0;
    t.work.hbm_bytes =
        args_[1].bytes + args_[2].bytes + 2 * updates_.columns * ColumnBytes();
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
  static Sca TileOf(CodeBuilder& b, Sca column) {
    return b.SBinaryImm(Opcode::kSshrl, column, 7);
  }
  // A tile of the table in any case.
  Sca SomeTile(CodeBuilder& b, Sca n) const {
    const Sca column = Column(b, n);
    return TileOf(b, b.SSelectImm(Exists(b, column), column, 0));
  }
  Sca Slot(CodeBuilder& b, Sca n) const {
    return b.SAdd(slots_, b.SMulImm(n, static_cast<int32_t>(ColumnBytes())));
  }
  Sca Place(CodeBuilder& b, Sca tile) const {
    return b.SMulImm(tile, static_cast<int32_t>(table_.tile_bytes() >>
                                                table_.place_shift()));
  }
  static void Start(CodeBuilder& b, int descriptor, Sca from, Sca to) {
    codegen::VInstr start;
    start.op = Opcode::kDmaStartDesc;
    start.imm = descriptor;
    start.a = from.id;
    start.b = to.id;
    b.Emit(start);
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
      Start(b, fetch_, Place(b, SomeTile(b, n)), Slot(b, n));
    });
    Await(b);
    ForColumns(b, "change columns", [&](Sca n) { Change(b, owners, n); });
    ForColumns(b, "store tiles", [&](Sca n) {
      const Sca tile = SomeTile(b, n);
      Start(b, store_, Slot(b, owners_->Of(b, owners, n, tile)),
            Place(b, tile));
    });
    Await(b);
    return absl::OkStatus();
  }

  void Await(CodeBuilder& b) const {
    b.NewBlock("wait for tiles", codegen::BlockMode::kInOrder);
    AwaitBytes(b, columns() * ColumnBytes());
  }

  // What goes nowhere changes a slot that is not stored.
  void Change(CodeBuilder& b, Sca owners, Sca n) const {
    const Sca column = Column(b, n);
    const Pred exists = Exists(b, column);
    const Sca inside = b.SSelectImm(exists, column, 0);
    const Sca owner = owners_->Of(b, owners, n, TileOf(b, inside));
    const Sca at =
        Slot(b, b.SSelectImm(exists, owner, static_cast<int32_t>(columns())));
    const Sca lane = b.SBinaryImm(Opcode::kSand, inside, isa::kLanes - 1);
    const Sca its_lane = b.SBinaryImm(Opcode::kSand, n, isa::kLanes - 1);
    const Sca update = b.SAdd(
        values_, b.SMulImm(TileOf(b, n), static_cast<int32_t>(ColumnBytes())));
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
  std::vector<isa::KernelArg> args_;
  int64_t tiles_ = 0;  // of 128 updates, in a step
  std::optional<RowOwners> owners_;
  int index_window_ = 0, update_window_ = 0, fetch_ = 0, store_ = 0;
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

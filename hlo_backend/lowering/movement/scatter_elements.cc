// EmitElementScatter: single words of a 1-D table, one after another in VMEM,
// or in rows of 128 that are in flight together.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/row_owners.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kMostElements = 1024;
constexpr int64_t kMostInFlight = 256;
constexpr int kUnroll = 8;
constexpr int kTable = 0;  // codegen space
constexpr int kResultArg = 3;

class ElementScatter {
 public:
  ElementScatter(const PhysicalArray& table, int64_t count, RowIndex index,
                 RowIndex updates, ScatterCombine combine)
      : table_(table),
        count_(count),
        index_(index),
        updates_(updates),
        combine_(combine) {}

  absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                   const hlo::Instruction& i) {
    Tiling t;
    ASSIGN_OR_RETURN(t.args, KernelArgs(i));
    const int64_t bytes = table_.bytes();
    in_place_ = t.args[kResultArg].space == isa::Space::kVmem;
    const bool whole = bytes <= VmemBudget(context) / 2;
    t.work.flops = combine_.op ? count_ : 0;
    t.work.hbm_bytes = t.args[1].bytes + t.args[2].bytes;
    if (!in_place_ && !whole) return InFlight(context, std::move(t));
    AddWindows(kMostElements, &t);
    t.note = "elements, table in VMEM";
    if (!in_place_) {
      t.work.hbm_bytes += 2 * bytes;
      // A row is read as the first of eight.
      t.scratch_bytes =
          RoundUpTo<int64_t>(bytes, isa::kVregBytes) + isa::kVregBytes;
      fetch_ = RowDma::FromArg(0, bytes / isa::kRowBytes, isa::kRowBytes, &t);
      store_ =
          RowDma::ToArg(kResultArg, bytes / isa::kRowBytes, isa::kRowBytes, &t);
      t.entry = [this](CodeBuilder& b) -> absl::Status {
        b.NewBlock("table");
        const Sca zero = b.GlobalSca(), table = b.GlobalSca();
        b.SImmTo(zero, 0);
        b.ScratchAddress(table, 0);
        fetch_.Run(b, zero, table);
        return absl::OkStatus();
      };
    }
    t.body = [this](CodeBuilder& b) { return InVmem(b); };
    return FrameKernel(context, t);
  }

 private:
  void AddWindows(int64_t most, Tiling* t) {
    elements_ = std::min(most, RoundUpTo<int64_t>(count_, kUnroll));
    const int64_t steps = CeilOfRatio(count_, elements_);
    t->grid = {steps};
    index_window_ = index_.AddWindow(1, elements_, steps, t);
    update_window_ = updates_.AddWindow(2, elements_, steps, t);
  }

  absl::StatusOr<isa::Kernel> InFlight(const KernelContext& context,
                                       const Tiling& args) {
    const int64_t rows = table_.bytes() / isa::kRowBytes;
    for (int64_t most = kMostInFlight; most >= kUnroll; most /= 2) {
      Tiling t = args;
      AddWindows(most, &t);
      isa::Window& indices = t.windows[index_window_];
      const int64_t smem = context.chip.smem().count();
      const auto all = [&](const RowOwners& owners) {
        return indices.slots * (indices.slot_bytes + owners.SmemBytes() +
                                updates_.SlotBytes(elements_));
      };
      owners_.emplace(rows, elements_, /*hashed=*/false);
      if (all(*owners_) > smem) owners_.emplace(rows, elements_, true);
      if (all(*owners_) > smem) continue;
      // Owners stand behind the indices.
      indices.slot_bytes += owners_->SmemBytes();
      t.scratch_bytes = (elements_ + 1) * isa::kRowBytes + isa::kVregBytes;
      const int unit = table_.place_shift();
      fetch_ = RowDma::FromArg(0, 1, isa::kRowBytes, &t, unit);
      store_ = RowDma::ToArg(kResultArg, 1, isa::kRowBytes, &t, unit);
      t.work.hbm_bytes += 2 * count_ * isa::kRowBytes;
      t.note = absl::StrCat("elements, ", elements_, " rows in flight");
      t.body = [this](CodeBuilder& b) { return Batch(b); };
      return FrameKernel(context, t);
    }
    return absl::ResourceExhaustedError("SMEM has no room for a batch");
  }

  void Addresses(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    values_ = b.GlobalSca();
    table_at_ = b.GlobalSca();
    first_ = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(values_, update_window_);
    if (in_place_) {
      b.ArgAddress(table_at_, kResultArg);
    } else {
      b.ScratchAddress(table_at_, 0);
    }
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first_, b.SMulImm(step, static_cast<int32_t>(elements_)));
  }

  // The element of update `n`, none beyond the last update.
  Sca Element(CodeBuilder& b, Sca n) {
    const Sca at = index_.LoadRaw(b, indices_, n);
    if (count_ % elements_ == 0) return at;
    const Sca last = b.SImm(static_cast<int32_t>(count_ - 1));
    return b.SBinary(
        Opcode::kSor, at,
        b.SBinaryImm(Opcode::kSshra,
                     b.SBinary(Opcode::kSsub, last, b.SAdd(first_, n)), 31));
  }
  Pred Exists(CodeBuilder& b, Sca element) {
    return b.SCompareImm(Opcode::kScmpLtU, element,
                         static_cast<int32_t>(table_.linear));
  }
  static Sca RowOf(CodeBuilder& b, Sca element) {
    return b.SBinaryImm(Opcode::kSshrl, element, 7);
  }
  static Sca RowBytes(CodeBuilder& b, Sca rows) {
    return b.SBinaryImm(Opcode::kSshll, rows, 9);
  }

  // A row of 128 words at `at`, of which word `element` mod 128 changes.
  void Change(CodeBuilder& b, Sca at, Sca element, Sca n) {
    const Vec lane =
        b.Splat(b.SBinaryImm(Opcode::kSand, element, isa::kLanes - 1));
    const auto mine = b.Compare(Opcode::kVcmpEqS32, b.LaneSequence(), lane);
    const Vec update = b.Splat(updates_.LoadRaw(b, values_, n));
    b.StoreMasked(kTable, at, 0,
                  combine_.Emit(b, b.Load(kTable, at, 0), update), mine);
  }

  absl::Status InVmem(CodeBuilder& b) {
    Addresses(b);
    ForElements(b, "change elements", [&](Sca n) {
      const Sca element = Element(b, n);
      const Pred exists = Exists(b, element);
      const Sca inside = b.SSelectImm(exists, element, 0);
      b.SetStoreGuard(exists);
      Change(b, b.SAdd(table_at_, RowBytes(b, RowOf(b, inside))), inside, n);
      b.SetStoreGuard({});
    });
    if (in_place_) return absl::OkStatus();
    b.BeginWhen(0, isa::When::Kind::kLast);
    b.NewBlock("table");
    const Sca zero = b.GlobalSca();
    b.SImmTo(zero, 0);
    store_.Run(b, zero, table_at_);
    b.EndWhen();
    return absl::OkStatus();
  }

  // All rows of a step are fetched, and elements changed in the first of equal
  // rows. What goes nowhere changes a row that is not stored.
  absl::Status Batch(CodeBuilder& b) {
    Addresses(b);
    const Sca owners = b.GlobalSca();
    b.SMove(
        owners,
        b.SAddImm(indices_, static_cast<int32_t>(index_.SlotBytes(elements_))));
    // A row of the table in any case.
    const auto row_of = [&](Sca n) {
      const Sca element = Element(b, n);
      return RowOf(b, b.SSelectImm(Exists(b, element), element, 0));
    };
    const auto slot = [&](Sca n) { return b.SAdd(table_at_, RowBytes(b, n)); };
    owners_->Find(b, owners, row_of);
    const auto place = [&](Sca row) {
      return table_.place_shift() > 0 ? row : RowBytes(b, row);
    };
    ForElements(b, "fetch rows",
                [&](Sca n) { fetch_.Start(b, place(row_of(n)), slot(n)); });
    fetch_.Wait(b, elements_);
    ForElements(b, "change elements", [&](Sca n) {
      const Sca element = Element(b, n);
      const Pred exists = Exists(b, element);
      const Sca inside = b.SSelectImm(exists, element, 0);
      const Sca owner = owners_->Of(b, owners, n, RowOf(b, inside));
      const Sca mine =
          b.SSelectImm(exists, owner, static_cast<int32_t>(elements_));
      Change(b, slot(mine), inside, n);
    });
    ForElements(b, "store rows", [&](Sca n) {
      const Sca row = row_of(n);
      store_.Start(b, place(row), slot(owners_->Of(b, owners, n, row)));
    });
    store_.Wait(b, elements_);
    return absl::OkStatus();
  }

  template <class Fn>
  void ForElements(CodeBuilder& b, const char* label, Fn body) {
    const Sca k = b.BeginLoop(elements_ / kUnroll, kUnroll);
    b.NewBlock(label);
    for (int u = 0; u < kUnroll; ++u) body(b.SAddImm(k, u));
    b.EndLoop();
  }

  const PhysicalArray& table_;
  const int64_t count_;
  const RowIndex index_, updates_;
  const ScatterCombine combine_;
  int64_t elements_ = 0;
  int index_window_ = 0, update_window_ = 0;
  bool in_place_ = false;
  RowDma fetch_, store_;
  std::optional<RowOwners> owners_;  // of rows in flight
  Sca indices_, values_, table_at_, first_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitElementScatter(const KernelContext& context,
                                               const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::Of(*i.operand(1)));
  ASSIGN_OR_RETURN(const RowIndex updates, RowIndex::Of(*i.operand(2)));
  ASSIGN_OR_RETURN(const ScatterCombine combine, ScatterCombine::Of(i));
  return ElementScatter(table, i.operand(2)->shape().dim(0), index, updates,
                        combine)
      .Emit(context, i);
}

}  // namespace ptxla::lowering

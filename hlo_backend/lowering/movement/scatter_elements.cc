// EmitElementScatter: single words of a 1-D table.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kMostElements = 1024;
constexpr int kUnroll = 8;
constexpr int kTable = 0;

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
    elements_ = std::min(kMostElements, RoundUpTo<int64_t>(count_, kUnroll));
    const int64_t steps = CeilOfRatio(count_, elements_);
    t.grid = {steps};
    index_window_ = index_.AddWindow(1, elements_, steps, &t);
    update_window_ = updates_.AddWindow(2, elements_, steps, &t);
    const int64_t bytes = table_.bytes();
    const bool whole = bytes <= VmemBudget(context) / 2;
    t.work.flops = combine_.op ? count_ : 0;
    t.work.hbm_bytes = t.args[1].bytes + t.args[2].bytes +
                       2 * (whole ? bytes : count_ * isa::kRowBytes);
    t.note = absl::StrCat("elements, table ", whole ? "in VMEM" : "by rows");
    if (!whole) {
      t.scratch_bytes = isa::kVregBytes;
      fetch_ = RowDma::FromArg(0, 1, isa::kRowBytes, &t);
      store_ = RowDma::ToArg(3, 1, isa::kRowBytes, &t);
      t.body = [this](CodeBuilder& b) { return ByRows(b); };
      return FrameKernel(context, t);
    }
    // Behind the table: the row of what goes nowhere.
    t.scratch_bytes = RoundUpTo<int64_t>(bytes, isa::kVregBytes) +
                      2 * int64_t{isa::kVregBytes};
    fetch_ = RowDma::FromArg(0, bytes / isa::kRowBytes, isa::kRowBytes, &t);
    store_ = RowDma::ToArg(3, bytes / isa::kRowBytes, isa::kRowBytes, &t);
    t.entry = [this](CodeBuilder& b) -> absl::Status {
      b.NewBlock("table");
      const Sca zero = b.GlobalSca(), table = b.GlobalSca();
      b.SImmTo(zero, 0);
      b.ScratchAddress(table, 0);
      fetch_.Run(b, zero, table);
      return absl::OkStatus();
    };
    t.body = [this](CodeBuilder& b) { return InVmem(b); };
    return FrameKernel(context, t);
  }

 private:
  void Addresses(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    values_ = b.GlobalSca();
    table_at_ = b.GlobalSca();
    first_ = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(values_, update_window_);
    b.ScratchAddress(table_at_, 0);
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first_, b.SMulImm(step, static_cast<int32_t>(elements_)));
  }

  // The element of update `n`; `nowhere` for those outside of the table and
  // beyond the last update.
  Sca Element(CodeBuilder& b, Sca n, int64_t nowhere) {
    Sca at = index_.LoadRaw(b, indices_, n);
    if (count_ % elements_ != 0) {
      const Sca last = b.SImm(static_cast<int32_t>(count_ - 1));
      at = b.SBinary(
          Opcode::kSor, at,
          b.SBinaryImm(Opcode::kSshra,
                       b.SBinary(Opcode::kSsub, last, b.SAdd(first_, n)), 31));
    }
    return b.SSelectImm(b.SCompareImm(Opcode::kScmpLtU, at,
                                      static_cast<int32_t>(table_.linear)),
                        at, static_cast<int32_t>(nowhere));
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
    const int64_t nowhere =
        RoundUpTo<int64_t>(table_.bytes(), isa::kVregBytes) / 4;
    const Sca k = b.BeginLoop(elements_ / kUnroll, kUnroll);
    b.NewBlock("change elements");
    for (int u = 0; u < kUnroll; ++u) {
      const Sca n = b.SAddImm(k, u);
      const Sca element = Element(b, n, nowhere);
      const Sca row = b.SBinaryImm(Opcode::kSshll,
                                   b.SBinaryImm(Opcode::kSshrl, element, 7), 9);
      Change(b, b.SAdd(table_at_, row), element, n);
    }
    b.EndLoop();
    b.BeginWhen(0, isa::When::Kind::kLast);
    b.NewBlock("table");
    const Sca zero = b.GlobalSca();
    b.SImmTo(zero, 0);
    store_.Run(b, zero, table_at_);
    b.EndWhen();
    return absl::OkStatus();
  }

  // What goes nowhere changes lane 0 of a row that is stored as it was.
  absl::Status ByRows(CodeBuilder& b) {
    Addresses(b);
    const Sca n = b.BeginLoop(elements_, 1);
    const Sca element = b.GlobalSca(), offset = b.GlobalSca(),
              to = b.GlobalSca(), aside = b.GlobalSca();
    b.NewBlock("element");
    const Sca found = Element(b, n, -1);
    b.SMove(element, b.SBinaryImm(Opcode::kSmax, found, 0));
    b.SMove(offset, b.SBinaryImm(Opcode::kSshll,
                                 b.SBinaryImm(Opcode::kSshrl, element, 7), 9));
    // All bits of a row number where there is none.
    b.SMove(aside, b.SBinaryImm(Opcode::kSshra, found, 31));
    b.SMove(to, table_at_);
    fetch_.Run(b, offset, to);
    b.NewBlock("change");
    const Vec lane = b.Splat(
        b.SBinary(Opcode::kSor, aside,
                  b.SBinaryImm(Opcode::kSand, element, isa::kLanes - 1)));
    const auto mine = b.Compare(Opcode::kVcmpEqS32, b.LaneSequence(), lane);
    const Vec update = b.Splat(updates_.LoadRaw(b, values_, n));
    b.StoreMasked(kTable, to, 0,
                  combine_.Emit(b, b.Load(kTable, to, 0), update), mine);
    store_.Run(b, offset, to);
    b.EndLoop();
    return absl::OkStatus();
  }

  const PhysicalArray& table_;
  const int64_t count_;
  const RowIndex index_, updates_;
  const ScatterCombine combine_;
  int64_t elements_ = 0;
  int index_window_ = 0, update_window_ = 0;
  RowDma fetch_, store_;
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

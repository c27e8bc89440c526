// EmitElementGather: single words of a 1-D table.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Elements that one grid step gathers, at most.
constexpr int64_t kMostElements = 1024;
// Of one block of bundles.
constexpr int kTogether = 32;
enum Space { kResult, kTable };

class ElementGather {
 public:
  ElementGather(const PhysicalArray& table, const PhysicalArray& out,
                RowIndex index)
      : table_(table), index_(index), count_(out.linear) {}

  absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                   const hlo::Instruction& i) {
    ASSIGN_OR_RETURN(const std::vector<isa::KernelArg> args, KernelArgs(i));
    if (!isa::Supports(context.model, Opcode::kVperm)) {
      return absl::UnimplementedError(
          absl::StrCat("%", i.name(),
                       ": a gather of elements on a chip that permutes no "
                       "lanes"));
    }
    Tiling t;
    t.args = args;
    elements_ =
        std::min(kMostElements, RoundUpTo<int64_t>(count_, isa::kLanes));
    const int64_t steps = CeilOfRatio(count_, elements_);
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    index_window_ = index_.AddWindow(1, elements_, steps, &t);
    result_window_ = AddRows(2, isa::Direction::kOut, elements_ / isa::kLanes,
                             steps > 1, &t);
    in_vmem_ = args[0].space == isa::Space::kVmem ||
               table_.bytes() <= VmemBudget(context) / 2;
    t.work.hbm_bytes = args[1].bytes + args[2].bytes;
    if (in_vmem_) {
      table_window_ = AddRows(0, isa::Direction::kIn,
                              table_.bytes() / isa::kRowBytes, false, &t);
      t.work.hbm_bytes += args[0].bytes;
    } else {
      t.scratch_bytes = elements_ * isa::kRowBytes;
      row_ = RowDma::FromArg(0, 1, isa::kRowBytes, &t);
      t.work.hbm_bytes += count_ * isa::kRowBytes;
    }
    t.note = absl::StrCat("elements, ", elements_, " per step, table ",
                          in_vmem_ ? "in VMEM" : "by rows");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context, t);
  }

 private:
  // Rows of 128 words.
  static int AddRows(int arg, isa::Direction direction, int64_t rows,
                     bool moves, Tiling* t) {
    isa::Window w;
    w.arg = arg;
    w.direction = direction;
    w.inner_bytes = isa::kRowBytes;
    isa::WindowDim d;
    d.block = rows;
    d.extent = t->args[arg].bytes / isa::kRowBytes;
    d.hbm_stride = d.vmem_stride = isa::kRowBytes;
    d.grid_dim = moves ? 0 : -1;
    w.dims = {d};
    w.slots = moves ? 2 : 1;
    w.slot_bytes = RoundUpTo<int64_t>(rows * isa::kRowBytes, isa::kVregBytes) +
                   isa::kVregBytes;
    t->windows.push_back(std::move(w));
    return static_cast<int>(t->windows.size()) - 1;
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    rows_ = b.GlobalSca();
    const Sca to = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(to, result_window_);
    if (in_vmem_) {
      b.WindowAddress(rows_, table_window_);
    } else {
      b.ScratchAddress(rows_, 0);
      Fetch(b);
    }
    const Sca n = b.BeginLoop(elements_ / isa::kLanes, isa::kLanes);
    const Vec found = b.GlobalVec();
    const Sca part = b.BeginLoop(isa::kLanes / kTogether, kTogether);
    b.NewBlock("elements");
    const Vec group = b.BinaryImm(
        Opcode::kVshrl,
        b.BinaryImm(Opcode::kVand, b.LaneSequence(), isa::kLanes - 1), 3);
    const Sca first = b.SAdd(n, part);
    Vec all = found;
    for (int e = 0; e < kTogether; e += isa::kSublanes) {
      const Sca g = b.SBinaryImm(Opcode::kSshrl, b.SAddImm(part, e), 3);
      all = b.Select(b.Compare(Opcode::kVcmpEqS32, group, b.Splat(g)),
                     Eight(b, b.SAddImm(first, e)), all);
    }
    b.Move(found, all);
    b.EndLoop();
    // Lane l of the row is on sublane l mod 8.
    b.NewBlock("row");
    const Vec at = b.LaneSequence();
    const Vec mine = b.Binary(
        Opcode::kVxor, b.BinaryImm(Opcode::kVand, at, isa::kSublanes - 1),
        b.BinaryImm(Opcode::kVshrl, at, 7));
    Vec row = b.SelectImm(b.CompareImm(Opcode::kVcmpEqS32, mine, 0), found, 0);
    for (int turn : {4, 2, 1}) {
      row = b.Binary(Opcode::kVor, row, b.RotateSublanes(row, turn));
    }
    b.StoreMasked(kResult, b.SAdd(to, b.SBinaryImm(Opcode::kSshll, n, 2)), 0,
                  row, b.Range(0, isa::kLanes, 0, 1));
    b.EndLoop();
    return absl::OkStatus();
  }

  void Fetch(CodeBuilder& b) {
    const Sca first = b.BeginLoop(elements_ / isa::kSublanes, isa::kSublanes);
    b.NewBlock("fetch rows");
    for (int u = 0; u < isa::kSublanes; ++u) {
      const Sca n = b.SAddImm(first, u);
      const Sca at = b.SAdd(rows_, b.SBinaryImm(Opcode::kSshll, n, 9));
      row_.Start(b, Row(b, Index(b, n)), at);
    }
    b.EndLoop();
    row_.Wait(b, elements_);
  }

  Sca Index(CodeBuilder& b, Sca n) {
    return index_.Load(b, indices_, n, table_.linear);
  }
  // Bytes to the row of an element.
  static Sca Row(CodeBuilder& b, Sca index) {
    return b.SBinaryImm(Opcode::kSshll, b.SBinaryImm(Opcode::kSshrl, index, 7),
                        9);
  }

  // Elements n ... n + 7, each in all lanes of its sublane.
  Vec Eight(CodeBuilder& b, Sca n) {
    Vec rows, lanes;
    if (!in_vmem_) {
      rows =
          b.Load(kTable, b.SAdd(rows_, b.SBinaryImm(Opcode::kSshll, n, 9)), 0);
    }
    for (int s = 0; s < isa::kSublanes; ++s) {
      const Sca index = Index(b, b.SAddImm(n, s));
      const auto mine = b.Range(0, isa::kLanes, s, s + 1);
      const Vec lane =
          b.Splat(b.SBinaryImm(Opcode::kSand, index, isa::kLanes - 1));
      lanes = lanes.valid() ? b.Select(mine, lane, lanes) : lane;
      if (!in_vmem_) continue;
      const Vec row = b.LoadRow(kTable, b.SAdd(rows_, Row(b, index)), 0);
      rows = rows.valid() ? b.Select(mine, row, rows) : row;
    }
    return b.Permute(rows, lanes);
  }

  const PhysicalArray& table_;
  const RowIndex index_;
  const int64_t count_;
  int64_t elements_ = 0;
  bool in_vmem_ = false;
  int index_window_ = 0, result_window_ = 0, table_window_ = 0;
  RowDma row_;
  Sca indices_, rows_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitElementGather(const KernelContext& context,
                                              const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::Of(*i.operand(1)));
  return ElementGather(table, out, index).Emit(context, i);
}

}  // namespace ptxla::lowering

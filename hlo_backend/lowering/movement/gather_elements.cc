// EmitElementGather: single elements of a table, wherever they lie in its
// tiles.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/element_index.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Elements that one grid step gathers, at most.
constexpr int64_t kMostElements = 1024;
enum Space { kResult, kTable };

class ElementGather {
 public:
  ElementGather(const ElementIndex& index, const PhysicalArray& out)
      : index_(index),
        table_(index_.table()),
        count_(out.linear),
        parts_(out.packing) {}

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
    elements_ = std::min(kMostElements,
                         RoundUpTo<int64_t>(count_, parts_ * isa::kLanes));
    // Half of SMEM is for scalars that lie there.
    while (elements_ > parts_ * isa::kLanes &&
           2 * index_.SlotBytes(elements_) > context.chip.smem().count() / 2) {
      elements_ = RoundUpTo<int64_t>(elements_ / 2, parts_ * isa::kLanes);
    }
    const int64_t steps = CeilOfRatio(count_, elements_);
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    index_.SetSteps(elements_, steps);
    index_window_ = index_.AddWindow(1, elements_, steps, &t);
    result_window_ = AddRows(2, isa::Direction::kOut,
                             elements_ / (parts_ * isa::kLanes), steps > 1, &t);
    in_vmem_ = args[0].space == isa::Space::kVmem ||
               table_.bytes() <= VmemBudget(context) / 2;
    for (const int arg : {1, 2}) {
      if (args[arg].space == isa::Space::kHbm) {
        t.work.hbm_bytes += args[arg].bytes;
      }
    }
    if (in_vmem_) {
      table_window_ = AddRows(0, isa::Direction::kIn,
                              table_.bytes() / isa::kRowBytes, false, &t);
      if (args[0].space == isa::Space::kHbm) {
        t.work.hbm_bytes += args[0].bytes;
      }
    } else {
      t.scratch_bytes = elements_ * isa::kRowBytes;
      row_ = RowDma::FromArg(0, 1, isa::kRowBytes, &t, table_.place_shift());
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
    const int together = parts_ * isa::kLanes;
    const Sca n = b.BeginLoop(elements_ / together, together);
    std::vector<Vec> found;  // of each part of the row's words
    found.reserve(parts_);
    for (int p = 0; p < parts_; ++p) {
      found.push_back(Found(b, n, p * isa::kLanes));
    }
    // Lane l of the row is on sublane l mod 8.
    b.NewBlock("row");
    const Vec at = b.LaneSequence();
    const Vec mine = b.Binary(
        Opcode::kVxor, b.BinaryImm(Opcode::kVand, at, isa::kSublanes - 1),
        b.BinaryImm(Opcode::kVshrl, at, 7));
    Vec row = found[0];
    for (int p = 1; p < parts_; ++p) {
      row = b.Binary(Opcode::kVor, row,
                     b.BinaryImm(Opcode::kVshll, found[p], p * table_.bits));
    }
    row = b.SelectImm(b.CompareImm(Opcode::kVcmpEqS32, mine, 0), row, 0);
    for (int turn : {4, 2, 1}) {
      row = b.Binary(Opcode::kVor, row, b.RotateSublanes(row, turn));
    }
    const Sca offset =
        b.SBinaryImm(Opcode::kSshrl, b.SBinaryImm(Opcode::kSshll, n, 2),
                     table_.packing_log2());
    b.StoreMasked(kResult, b.SAdd(to, offset), 0, row,
                  b.Range(0, isa::kLanes, 0, 1));
    b.EndLoop();
    return absl::OkStatus();
  }

  // 128 elements from n + `beyond` on, that of lane l on sublane l mod 8. One
  // block: where scalars are loaded ahead, waits are few.
  Vec Found(CodeBuilder& b, Sca n, int beyond) {
    const Vec found = b.GlobalVec();
    b.NewBlock("elements");
    const Vec group = b.BinaryImm(
        Opcode::kVshrl,
        b.BinaryImm(Opcode::kVand, b.LaneSequence(), isa::kLanes - 1), 3);
    Vec all;
    for (int e = 0; e < isa::kLanes; e += isa::kSublanes) {
      const Vec eight = Eight(b, b.SAddImm(n, beyond + e));
      all = e == 0 ? eight
                   : b.Select(b.CompareImm(Opcode::kVcmpEqS32, group,
                                           e / isa::kSublanes),
                              eight, all);
    }
    b.Move(found, all);
    return found;
  }

  void Fetch(CodeBuilder& b) {
    const Sca first = b.BeginLoop(elements_ / isa::kSublanes, isa::kSublanes);
    b.NewBlock("fetch rows");
    const Sca from = index_.At(b, indices_, first);
    const Sca to = b.SAdd(rows_, b.SBinaryImm(Opcode::kSshll, first, 9));
    for (int u = 0; u < isa::kSublanes; ++u) {
      row_.Start(b, index_.Row(b, index_.Load(b, from, u)),
                 b.SAddImm(to, u * isa::kRowBytes));
    }
    b.EndLoop();
    row_.Wait(b, elements_);
  }

  // Elements n ... n + 7, each in all lanes of its sublane.
  Vec Eight(CodeBuilder& b, Sca n) {
    Vec rows, lanes, shifts;
    if (!in_vmem_) {
      rows =
          b.Load(kTable, b.SAdd(rows_, b.SBinaryImm(Opcode::kSshll, n, 9)), 0);
    }
    const Sca at = index_.At(b, indices_, n);
    for (int s = 0; s < isa::kSublanes; ++s) {
      const ElementIndex::Element e = index_.Load(b, at, s);
      const auto mine = b.Range(0, isa::kLanes, s, s + 1);
      const auto add = [&](Vec value, Vec* all) {
        *all = all->valid() ? b.Select(mine, value, *all) : value;
      };
      add(b.Splat(index_.Lane(b, e)), &lanes);
      if (parts_ > 1) {
        add(b.Splat(b.SMulImm(index_.Part(b, e), table_.bits)), &shifts);
      }
      if (!in_vmem_) continue;
      add(b.LoadRow(kTable, b.SAdd(rows_, index_.Row(b, e)), 0), &rows);
    }
    const Vec words = b.Permute(rows, lanes);
    if (parts_ == 1) return words;
    return b.BinaryImm(Opcode::kVand, b.Binary(Opcode::kVshrl, words, shifts),
                       (uint32_t{1} << table_.bits) - 1);
  }

  ElementIndex index_;
  const PhysicalArray& table_;
  const int64_t count_;
  const int parts_;  // of a word
  int64_t elements_ = 0;
  bool in_vmem_ = false;
  int index_window_ = 0, result_window_ = 0, table_window_ = 0;
  RowDma row_;
  Sca indices_, rows_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitElementGather(const KernelContext& context,
                                              const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const ElementIndex index, ElementIndex::Of(i));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  return ElementGather(index, out).Emit(context, i);
}

}  // namespace ptxla::lowering

// EmitMover: a movement as loads, lane rotations and stores of whole registers.
//
// Each register of the result is put together from pieces (row_plan.h). Rows
// that lie at equal distances in VMEM come with one strided load; a shift by
// lanes goes through the XLU; pieces that share a register are selected by
// masks. Narrow types are taken apart only where a piece changes its part.
#include "hlo_backend/lowering/movement/mover.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/movement/column_cut.h"
#include "hlo_backend/lowering/movement/load_form.h"
#include "hlo_backend/lowering/movement/row_blocks.h"
#include "hlo_backend/lowering/movement/row_plan.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int kRow = isa::kRowBytes;
class Mover {
 public:
  // `registers`: of the result, in one block of bundles. `cut`: the plan is of
  // some columns.
  Mover(const KernelContext& context, const hlo::Instruction& i, RowPlan plan,
        std::optional<ColumnCut> cut, int registers, bool spills)
      : context_(context),
        i_(i),
        plan_(std::move(plan)),
        cut_(std::move(cut)),
        registers_in_block_(registers),
        spills_(spills) {}

  absl::StatusOr<isa::Kernel> Emit() {
    RETURN_IF_ERROR(FindFill());
    Tiling tiling;
    tiling.spills = spills_;
    ASSIGN_OR_RETURN(tiling.args, KernelArgs(i_));
    const auto blocks = ChooseRowBlocks(tiling.args, cut_.has_value(),
                                        VmemBudget(context_) * 3 / 4, &plan_);
    if (!blocks.has_value()) return NoBlock();
    blocks_ = *blocks;
    steps_ = CeilOfRatio(plan_.result().count(), blocks_.result_rows);
    if (steps_ > 1 || !cut_.has_value()) tiling.grid.push_back(steps_);
    if (cut_.has_value()) tiling.grid.push_back(cut_->steps());
    tiling.megacore_dim = tiling.grid[0] > 1 ? 0 : -1;
    // A padding value is part of the code, and no window.
    const int inputs = static_cast<int>(plan_.operands().size()) -
                       (i_.opcode() == hlo::Opcode::kPad ? 1 : 0);
    for (int o = 0; o < inputs; ++o) {
      AddWindow(o, isa::Direction::kIn, plan_.operands()[o].count(),
                blocks_.operand_rows[o], blocks_.advance[o],
                blocks_.last_row < 0 ? -1 : blocks_.last_operand_row[o],
                &tiling);
    }
    AddWindow(static_cast<int>(tiling.args.size()) - 1, isa::Direction::kOut,
              plan_.result().count(), blocks_.result_rows,
              steps_ > 1 ? blocks_.result_rows : 0, blocks_.last_row, &tiling);
    for (const isa::Window& w : tiling.windows) {
      const isa::KernelArg& arg = tiling.args[w.arg];
      resident_.push_back(arg.space == isa::Space::kVmem);
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    tiling.note =
        absl::StrCat("rows in ", steps_, " blocks of ", blocks_.result_rows);
    if (cut_.has_value()) {
      absl::StrAppend(&tiling.note, ", columns in ", cut_->steps());
    }
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  absl::Status FindFill() {
    const hlo::Instruction* pad = &i_;
    if (i_.opcode() == hlo::Opcode::kFusion) pad = i_.fused()->root();
    if (pad->opcode() != hlo::Opcode::kPad) return absl::OkStatus();
    const hlo::Instruction* value = pad->operand(1);
    if (!value->IsConstant()) {
      return absl::UnimplementedError(
          absl::StrCat("%", i_.name(), ": a padding value that is computed"));
    }
    const uint8_t* bytes = value->literal().element(0);
    uint32_t bits = 0;
    for (int b = 0; b < plan_.result().array().bits / 8; ++b) {
      bits |= uint32_t{bytes[b]} << (8 * b);
    }
    fill_ = bits;
    return absl::OkStatus();
  }

  absl::Status NoBlock() const {
    return absl::UnimplementedError(absl::StrCat(
        "%", i_.name(), ": no block of this movement fits into VMEM"));
  }

  // `last`: where the last step's block begins, if that is no multiple of the
  // rows by which others advance; else -1.
  void AddWindow(int arg, isa::Direction direction, int64_t rows, int64_t block,
                 int64_t advance, int64_t last, Tiling* tiling) {
    isa::Window w;
    w.arg = arg;
    w.direction = direction;
    w.inner_bytes = kRow;
    isa::WindowDim dim;
    dim.block = block;
    dim.extent = rows;
    dim.hbm_stride = dim.vmem_stride = kRow;
    dim.grid_dim = advance > 0 ? 0 : -1;
    dim.advance = advance == block ? 0 : advance;
    if (advance > 0 && last >= 0) {
      dim.advance = 1;
      for (int64_t g = 0; g + 1 < steps_; ++g) dim.table.push_back(g * advance);
      dim.table.push_back(last);
    }
    w.dims = {dim};
    w.slots = advance > 0 ? 2 : 1;
    w.slot_bytes = RowBlockBytes(block);
    if (cut_.has_value()) {
      cut_->SetDims(direction == isa::Direction::kOut
                        ? plan_.result().array()
                        : plan_.operands()[arg].array(),
                    dim, steps_ > 1 ? 1 : 0, &w);
    }
    tiling->windows.push_back(std::move(w));
  }

  absl::Status Body(CodeBuilder& b) {
    const int count = static_cast<int>(resident_.size()) - 1;
    b.NewBlock("addresses");
    bases_.clear();
    // Slots begin at whole periods of the VMEM banks.
    const int32_t bank_group = b.NewBankGroup();
    for (int w = 0; w <= count; ++w) {
      bases_.push_back(b.GlobalSca());
      b.WindowAddress(bases_.back(), w);
      const bool anywhere = blocks_.last_row >= 0 && resident_[w];
      b.SetBank(bases_.back(), anywhere ? codegen::kUnknownBanks : bank_group,
                0);
    }
    const int64_t rows = blocks_.result_rows;
    int in_block = 0;
    for (int64_t first = 0; first < rows; first += 8) {
      if (in_block == 0) {
        b.NewBlock("move rows");
        loads_.clear();
        masks_.clear();
      }
      in_block = (in_block + 1) % registers_in_block_;
      MoveRegister(b, first, rows);
    }
    return absl::OkStatus();
  }

  void MoveRegister(CodeBuilder& b, int64_t first, int64_t rows) {
    const std::vector<RowPiece> pieces = plan_.PiecesAt(first, rows);
    const WordRows& result = plan_.result();
    Vec value;
    if (plan_.AreWholeWords(pieces)) {
      std::vector<RowPiece> words;
      for (const RowPiece& p : pieces) {
        if (p.part == 0) words.push_back(p);
      }
      value =
          Combine(b, words, [&](const RowPiece& p) { return Source(b, p); });
    } else {
      const int bits = result.array().bits;
      for (int part = 0; part < result.parts(); ++part) {
        std::vector<RowPiece> mine;
        for (const RowPiece& p : pieces) {
          if (p.part == part) mine.push_back(p);
        }
        if (mine.empty()) continue;
        Vec v = Combine(b, mine, [&](const RowPiece& p) {
          return Part(b, Source(b, p), p.operand < 0 ? 0 : p.from_part, part,
                      bits);
        });
        value = value.valid() ? b.Binary(Opcode::kVor, value, v) : v;
      }
    }
    if (!value.valid()) return;  // all padding
    const int out = static_cast<int>(bases_.size()) - 1;
    const auto end =
        static_cast<int>(std::min<int64_t>(isa::kSublanes, rows - first));
    // Stretches of the register that follow one another where they go.
    for (int from = 0, to; from < end; from = to) {
      const int64_t row = RowOf(result.array(), out, first + from);
      to = from + 1;
      while (to < end &&
             RowOf(result.array(), out, first + to) == row + to - from) {
        ++to;
      }
      const auto at = static_cast<int32_t>((row - from) * kRow);
      if (to - from == isa::kSublanes) {
        b.Store(out, bases_[out], at, value);
      } else {
        b.StoreMasked(out, bases_[out], at, value, b.Range(0, 128, from, to));
      }
    }
  }

  // Where a step's word row of a window lies: in VMEM the array has other
  // columns between.
  int64_t RowOf(const PhysicalArray& array, int window, int64_t row) const {
    return cut_.has_value() && resident_[window] ? cut_->RowOf(array, row)
                                                 : row;
  }

  // Bits of `from` moved to the place of `to`, all others zero.
  static Vec Part(CodeBuilder& b, Vec words, int from, int to, int bits) {
    if (bits == 32) return words;
    const auto shift = [&](Opcode op, Vec v, int amount) {
      return amount == 0 ? v
                         : b.BinaryImm(op, v, static_cast<uint32_t>(amount));
    };
    // To the top, down to the bottom, up to the place: two shifts are enough.
    const Vec top = shift(Opcode::kVshll, words, 32 - bits * (from + 1));
    const Vec bottom = shift(Opcode::kVshrl, top, 32 - bits);
    return shift(Opcode::kVshll, bottom, bits * to);
  }

  // The pieces in one register; what no piece covers may hold anything.
  template <class Fn>
  Vec Combine(CodeBuilder& b, const std::vector<RowPiece>& pieces, Fn source) {
    Vec value;
    for (const RowPiece& p : pieces) {
      const Vec v = source(p);
      value = value.valid() ? b.Select(MaskOf(b, p), v, value) : v;
    }
    return value;
  }

  Mask MaskOf(CodeBuilder& b, const RowPiece& p) {
    const auto key = std::make_tuple(p.lane_lo, p.lane_hi, int{p.sublanes});
    Mask& mask = masks_[key];
    if (mask.valid()) return mask;
    for (int s = 0; s < 8;) {
      if (!(p.sublanes >> s & 1)) {
        ++s;
        continue;
      }
      int end = s;
      while (end < 8 && (p.sublanes >> end & 1)) ++end;
      const Mask range = b.Range(p.lane_lo, p.lane_hi, s, end);
      mask = mask.valid() ? b.MaskBinary(Opcode::kVmor, mask, range) : range;
      s = end;
    }
    return mask;
  }

  // The source rows of a piece on the sublanes where they belong, shifted.
  Vec Source(CodeBuilder& b, const RowPiece& p) {
    if (p.operand < 0) return b.Imm(fill_);
    std::vector<int64_t> key = {p.operand, p.shift};
    for (int s = 0; s < 8; ++s) {
      key.push_back(p.sublanes >> s & 1 ? p.rows[s] : -1);
    }
    Vec& value = loads_[key];
    if (value.valid()) return value;
    const Sca base = bases_[p.operand];
    const PhysicalArray& array = plan_.operands()[p.operand].array();
    RowPiece placed = p;
    for (int64_t& row : placed.rows) row = RowOf(array, p.operand, row);
    const LoadForm form = LoadForm::Of(placed);
    const auto at = static_cast<int32_t>(form.first * kRow);
    // A load must stay inside the block.
    const int64_t block =
        RowOf(array, p.operand, blocks_.operand_rows[p.operand] - 1) + 1;
    const int64_t room = cut_.has_value() && resident_[p.operand]
                             ? block
                             : RoundUpTo<int64_t>(block, isa::kSublanes);
    const int64_t last =
        form.first + (7 / form.group) * form.stride + form.group - 1;
    if (form.kind != LoadForm::Kind::kRows && last < room) {
      value = form.kind == LoadForm::Kind::kContiguous
                  ? b.Load(p.operand, base, at)
                  : b.LoadStrided(p.operand, base, at,
                                  static_cast<int32_t>(form.stride * kRow),
                                  form.group);
    } else {
      for (int s = 0; s < 8; ++s) {
        if (!(p.sublanes >> s & 1)) continue;
        const Vec row = b.LoadRow(p.operand, base,
                                  static_cast<int32_t>(placed.rows[s] * kRow));
        value = value.valid() ? b.Select(b.Range(0, 128, s, s + 1), row, value)
                              : row;
      }
    }
    if (p.shift != 0) value = b.RotateLanes(value, (p.shift + 128) % 128);
    return value;
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  RowPlan plan_;
  std::optional<ColumnCut> cut_;
  RowPlan::Blocks blocks_;
  std::vector<bool> resident_;  // by window
  int registers_in_block_;
  bool spills_;
  int64_t steps_ = 1;
  uint32_t fill_ = 0;
  std::vector<Sca> bases_;
  std::map<std::vector<int64_t>, Vec> loads_;  // of the open block
  std::map<std::tuple<int, int, int>, Mask> masks_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitMover(const KernelContext& context,
                                      const hlo::Instruction& i, int registers,
                                      bool spills) {
  ASSIGN_OR_RETURN(RowPlan plan, RowPlan::Of(i));
  auto kernel =
      Mover(context, i, std::move(plan), {}, registers, spills).Emit();
  if (!absl::IsUnimplemented(kernel.status())) return kernel;
  for (const int64_t tiles : ColumnCut::Choices(i)) {
    const ColumnCut cut(i, tiles);
    ASSIGN_OR_RETURN(RowPlan narrow, RowPlan::Of(i, &cut));
    auto cut_kernel =
        Mover(context, i, std::move(narrow), cut, registers, spills).Emit();
    if (!absl::IsUnimplemented(cut_kernel.status())) return cut_kernel;
  }
  return kernel;
}

}  // namespace ptxla::lowering

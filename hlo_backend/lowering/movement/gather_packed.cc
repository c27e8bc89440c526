// EmitPackedGather: rows that share words. Words come to slots, each by a
// transfer, or where the table lies in VMEM through registers; then each row's
// part of them is taken out.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/movement/strip_box.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Rows that one grid step gathers, at most: their DMAs are in flight at once.
constexpr int64_t kMostRows = 256;
constexpr int kUnroll = 8;
enum Space { kResult, kSlots, kTable };

class PackedGather {
 public:
  PackedGather(const KernelContext& context, const hlo::Instruction& i,
               const PhysicalArray& table, const PhysicalArray& out,
               RowIndex index)
      : context_(context), i_(i), table_(table), out_(out), index_(index) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    if (args_.back().space != isa::Space::kHbm) {
      return absl::UnimplementedError(
          absl::StrCat("%", i_.name(), ": a gather of packed rows to VMEM"));
    }
    const int64_t unit = int64_t{8} * out_.packing;
    for (int64_t most = kMostRows; most >= unit; most /= 2) {
      rows_ = std::min(most, RoundUpTo<int64_t>(out_.rows, unit));
      const Tiling t = Cutting();
      if (VmemBytes(context_, t) <= VmemBudget(context_)) {
        return FrameKernel(context_, t);
      }
    }
    return absl::UnimplementedError(
        absl::StrCat("%", i_.name(), ": rows too long for VMEM"));
  }

 private:
  Tiling Cutting() {
    Tiling t;
    t.args = args_;
    const int64_t steps = CeilOfRatio(out_.rows, rows_);
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    index_.SetSteps(rows_, steps);
    index_window_ = index_.AddWindow(1, rows_, steps, &t);
    result_ = StripBox::Of(out_, {}, rows_ / out_.tile_rows, out_.tiles_across,
                           rows_ / out_.packing);
    isa::Window w = result_.AsWindow(2, isa::Direction::kOut);
    w.dims[0].grid_dim = steps > 1 ? 0 : -1;
    w.slots = steps > 1 ? 2 : 1;
    result_window_ = static_cast<int>(t.windows.size());
    t.windows.push_back(std::move(w));
    slot_strip_ = rows_ * isa::kRowBytes;
    t.scratch_bytes = out_.tiles_across * slot_strip_;
    t.work.hbm_bytes =
        out_.rows * row_bytes() + args_[1].bytes + args_[2].bytes;
    if (TableInVmem()) {
      // What the last register of a row reads too much, in front of the table.
      t.scratch_bytes += 8 * table_.tile_bytes();
      t.work.hbm_bytes = args_[1].bytes + args_[2].bytes;
    } else {
      isa::DmaDescriptor row;
      row.src_arg = 0;
      row.arg_shift = table_.place_shift();
      row.dims = {{table_.tiles_across, table_.tile_bytes(), slot_strip_}};
      row.inner_bytes = isa::kRowBytes;
      t.descriptors.push_back(row);
      t.num_semaphores = 1;
    }
    t.note = absl::StrCat(TableInVmem() ? "table in VMEM, " : "", rows_,
                          " packed rows per step");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    const Sca slots = b.GlobalSca(), to = b.GlobalSca();
    b.WindowAddress(indices_, index_window_);
    b.WindowAddress(to, result_window_);
    b.ScratchAddress(slots, 0);
    Fetch(b, slots);
    Pack(b, slots, to);
    return absl::OkStatus();
  }

  bool TableInVmem() const { return args_[0].space == isa::Space::kVmem; }
  int64_t row_bytes() const { return table_.tiles_across * isa::kRowBytes; }

  // The words that hold each row, to its slot.
  void Fetch(CodeBuilder& b, Sca slots) {
    const int packing = out_.packing, words = CeilLog2(packing);
    const Sca table = b.GlobalSca();
    if (TableInVmem()) b.ArgAddress(table, 0);
    const Sca first = b.BeginLoop(rows_ / kUnroll, kUnroll);
    b.NewBlock("fetch rows");
    const Sca numbers = index_.AddressOf(b, indices_, first);
    for (int u = 0; u < kUnroll; ++u) {
      const Sca n = b.SAddImm(first, u);
      const Sca word = b.SBinaryImm(
          Opcode::kSshra, index_.ClampedAt(b, numbers, u, table_.rows), words);
      const Sca from = RowOffset(b, word, table_.tile_rows / packing,
                                 table_.row_stride(), table_.place_shift());
      const Sca at = b.SAdd(slots, b.SBinaryImm(Opcode::kSshll, n, 9));
      if (TableInVmem()) {
        MoveWords(b, b.SAdd(table, from), at);
        continue;
      }
      codegen::VInstr start;
      start.op = Opcode::kDmaStartDesc;
      start.a = from.id;
      start.b = at.id;
      b.Emit(start);
    }
    b.EndLoop();
    if (TableInVmem()) return;
    b.NewBlock("wait for rows", codegen::BlockMode::kInOrder);
    codegen::VInstr wait;
    wait.op = Opcode::kDmaDoneWait;
    wait.imm2 = static_cast<int32_t>(rows_ * row_bytes());
    b.Emit(wait);
  }

  // 512 bytes of each tile across, eight to a register. The last register ends
  // with the last tile: in front of it are tiles that came before, or for a
  // short row words that are not stored.
  void MoveWords(CodeBuilder& b, Sca from, Sca to) {
    const auto tile = static_cast<int32_t>(table_.tile_bytes());
    const auto strip = static_cast<int32_t>(slot_strip_);
    for (int64_t c = 0; c < table_.tiles_across; c += 8) {
      const auto left =
          static_cast<int32_t>(std::min<int64_t>(table_.tiles_across - c, 8));
      const auto last = static_cast<int32_t>(c) + left;
      Vec v = b.LoadStrided(kTable, from, (last - 8) * tile, tile, 1);
      if (left == 8 || c > 0) {
        b.StoreStrided(kSlots, to, (last - 8) * strip, strip, 1, v);
      } else {
        v = b.RotateSublanes(v, left);
        b.StoreStridedMasked(kSlots, to, 0, strip, 1, v,
                             b.Range(0, 128, 0, left));
      }
    }
  }

  // A result register: of each part, eight slots and by how much to shift.
  void Pack(CodeBuilder& b, Sca slots, Sca to) {
    const int packing = out_.packing;
    const int64_t unit = int64_t{8} * packing;
    const Sca n = b.BeginLoop(rows_ / unit, static_cast<int32_t>(unit));
    const Sca from = b.GlobalSca(), at = b.GlobalSca();
    std::vector<Vec> shifts;
    shifts.reserve(packing);
    for (int a = 0; a < packing; ++a) shifts.push_back(b.GlobalVec());
    b.NewBlock("parts of words");
    b.SMove(from, b.SAdd(slots, b.SBinaryImm(Opcode::kSshll, n, 9)));
    b.SMove(at, b.SAdd(to, b.SMulImm(n, isa::kRowBytes / packing)));
    b.SetBank(from, b.NewBankGroup(), 0);
    b.SetBank(at, b.NewBankGroup(), 0);
    const Sca numbers = index_.AddressOf(b, indices_, n);
    for (int a = 0; a < packing; ++a) {
      Vec shift;
      for (int s = 0; s < 8; ++s) {
        const Sca row =
            index_.ClampedAt(b, numbers, s * packing + a, table_.rows);
        const Vec v = b.Splat(b.SMulImm(
            b.SBinaryImm(Opcode::kSand, row, packing - 1), out_.bits));
        shift =
            shift.valid() ? b.Select(b.Range(0, 128, s, s + 1), v, shift) : v;
      }
      b.Move(shifts[a], shift);
    }
    const int64_t loops = out_.tiles_across / kUnroll;
    const int64_t rest = out_.tiles_across % kUnroll;
    const auto some = [&](Sca f, Sca t, int64_t begin, int64_t count) {
      b.NewBlock("pack rows");
      for (int64_t c = begin; c < begin + count; ++c) {
        Column(b, f, t, c, shifts);
      }
    };
    if (loops > 1) {
      const Sca c = b.BeginLoop(loops, kUnroll);
      const Sca f = b.GlobalSca(), t = b.GlobalSca();
      b.NewBlock("columns");
      b.SMove(f, b.SAdd(from, b.SMulImm(c, static_cast<int32_t>(slot_strip_))));
      b.SMove(t, b.SAdd(at, b.SMulImm(
                                c, static_cast<int32_t>(result_.strip_bytes))));
      b.SetBank(f, b.NewBankGroup(), 0);
      b.SetBank(t, b.NewBankGroup(), 0);
      some(f, t, 0, kUnroll);
      b.EndLoop();
    } else if (loops == 1) {
      some(from, at, 0, kUnroll);
    }
    if (rest > 0) some(from, at, loops * kUnroll, rest);
    b.EndLoop();
  }

  void Column(CodeBuilder& b, Sca from, Sca to, int64_t c,
              const std::vector<Vec>& shifts) {
    const uint32_t mask = (1u << out_.bits) - 1;
    Vec value;
    for (int a = 0; a < out_.packing; ++a) {
      Vec v = b.LoadStrided(
          kSlots, from,
          static_cast<int32_t>(c * slot_strip_ + a * isa::kRowBytes),
          out_.packing * isa::kRowBytes, 1);
      v = b.BinaryImm(Opcode::kVand, b.Binary(Opcode::kVshrl, v, shifts[a]),
                      mask);
      if (a > 0) {
        v = b.BinaryImm(Opcode::kVshll, v,
                        static_cast<uint32_t>(a * out_.bits));
      }
      value = value.valid() ? b.Binary(Opcode::kVor, value, v) : v;
    }
    b.Store(kResult, to, static_cast<int32_t>(c * result_.strip_bytes), value);
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const PhysicalArray& table_;
  const PhysicalArray& out_;
  RowIndex index_;
  std::vector<isa::KernelArg> args_;
  int64_t rows_ = 0, slot_strip_ = 0;
  int index_window_ = 0, result_window_ = 0;
  StripBox result_;
  Sca indices_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitPackedGather(const KernelContext& context,
                                             const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::OfGather(i));
  return PackedGather(context, i, table, out, index).Emit();
}

}  // namespace ptxla::lowering

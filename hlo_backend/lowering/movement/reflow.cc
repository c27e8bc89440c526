#include "hlo_backend/lowering/movement/reflow.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/reflow_rows.h"
#include "hlo_backend/lowering/movement/reflow_side.h"
#include "hlo_backend/lowering/movement/reflow_steps.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

enum Space { kIn, kLine, kOut };
constexpr int64_t kMostElements = 131072;  // of a step, where rows allow it
// Registers in one block of code: enough that the latency of the first is
// hidden; fewer where each has masks of its own; the most where all are known.
constexpr int64_t kRegisters = 64, kWithMasks = 32, kMostRegisters = 256;
constexpr int64_t kMostOfAll = int64_t{1} << 30;
constexpr int64_t kRow = isa::kLanes;  // of the line

class Reflow {
 public:
  Reflow(const KernelContext& context, const hlo::Instruction& i, ReflowSide in,
         ReflowSide out)
      : context_(context), i_(i), in_(in), out_(out) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    // Registers begin at whole tiles of 8 rows.
    const int64_t unit =
        out_.planes > 1 ? 1 : CeilOfRatio<int64_t>(8, out_.tile_rows);
    // Steps of whole pieces of the operand, too, if they are not too large.
    const int64_t even =
        std::lcm(unit * out_.piece(), in_.piece()) / out_.piece();
    std::optional<Tiling> tiling;
    if (even * out_.piece() <= kMostElements) {
      tiling = Fitting(even, unit, true);
    }
    if (!tiling) tiling = Fitting(unit, unit, true);
    if (!tiling) tiling = Fitting(unit, unit, false);
    if (!tiling) return Refuse("no block of this reshape fits into VMEM");
    return FrameKernel(context_, *tiling);
  }

 private:
  absl::Status Refuse(absl::string_view what) const {
    return absl::UnimplementedError(absl::StrCat("%", i_.name(), ": ", what));
  }

  static isa::Window WindowOf(const ReflowSide& side, int arg,
                              isa::Direction direction, int64_t count) {
    isa::Window w;
    w.arg = arg;
    w.direction = direction;
    w.inner_bytes = side.piece_bytes();
    isa::WindowDim d;
    d.block = count;
    d.extent = side.pieces();
    d.hbm_stride = d.vmem_stride = side.piece_bytes();
    w.dims = {d};
    w.slot_bytes =
        RoundUpTo<int64_t>(count * side.piece_bytes(), isa::kVregBytes) +
        isa::kVregBytes;
    return w;
  }

  // The largest step that fits, of so many pieces of the result or a multiple
  // (ReflowSteps).
  std::optional<Tiling> Fitting(int64_t pieces, int64_t unit, bool known) {
    const bool inside = args_[0].space == isa::Space::kVmem;
    const bool exact = args_[1].space == isa::Space::kVmem;
    const int64_t all = out_.pieces();
    int64_t most = std::max<int64_t>(kMostElements / out_.piece() / pieces, 1);
    for (; most >= 1; --most) {
      int64_t count = std::min(most * pieces, RoundUpTo(all, unit));
      // As many steps, with as little as that takes.
      const int64_t steps = CeilOfRatio(all, count);
      count = std::min(count, RoundUpTo(CeilOfRatio(all, steps), pieces));
      if (exact && (count > all || (all - count) % unit != 0)) continue;
      cut_.emplace(in_, out_, count, exact, inside, known);
      Tiling t = TilingOfSteps();
      if (VmemBytes(context_, t) <= VmemBudget(context_)) return t;
      most = most / 2 + 1;
    }
    return std::nullopt;
  }

  Tiling TilingOfSteps() {
    Tiling t;
    t.args = args_;
    const int64_t steps = cut_->steps();
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    isa::Window in = WindowOf(in_, 0, isa::Direction::kIn, cut_->in_count());
    isa::Window out = WindowOf(out_, 1, isa::Direction::kOut, cut_->count());
    if (steps > 1) {
      in.dims[0].grid_dim = out.dims[0].grid_dim = 0;
      in.dims[0].advance = out.dims[0].advance = 1;
      for (int64_t g = 0; g < steps; ++g) {
        in.dims[0].table.push_back(cut_->FirstPiece(g));
        out.dims[0].table.push_back(cut_->OutPiece(g));
      }
    }
    in.slots = out.slots = steps > 1 ? 2 : 1;
    t.windows = {in, out};
    t.scratch_bytes = RoundUpTo<int64_t>(
        (cut_->rows_before() + cut_->line_rows() + cut_->rows_behind()) *
            isa::kRowBytes,
        isa::kVregBytes);
    t.work.hbm_bytes = args_[0].bytes + args_[1].bytes;
    t.note = absl::StrCat("in a line, ", cut_->elements(), " elements a step");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    const Sca from = b.GlobalSca(), to = b.GlobalSca(), first = b.GlobalSca(),
              zero = b.GlobalSca();
    line_ = b.GlobalSca();
    b.WindowAddress(from, 0);
    b.WindowAddress(to, 1);
    b.ScratchAddress(
        line_, static_cast<int32_t>(cut_->rows_before() * isa::kRowBytes));
    b.SImmTo(zero, 0);
    if (cut_->even() || cut_->steps() == 1) {
      b.SImmTo(first, 0);
    } else {
      WhereItBegins(b, first);
    }
    const int64_t rows = cut_->line_rows(), in_count = cut_->in_count();
    if (in_.IsLine() && cut_->whole()) {
      const Sca begin = b.GlobalSca();
      b.SMove(begin, b.SAdd(line_, b.SBinaryImm(Opcode::kSshll, first, 2)));
      CopyLine(&b, kIn, from, kLine, begin, in_count);
    } else {
      LineRows fill(&b, in_, kIn, kLine, line_, rows, LineRows::kFill);
      Walk(b, in_, in_count, from, first, cut_->whole(), &fill);
    }
    if (out_.IsLine()) {
      CopyLine(&b, kLine, line_, kOut, to, CeilOfRatio<int64_t>(rows, 8));
    } else {
      LineRows cut(&b, out_, kOut, kLine, line_, rows, LineRows::kCut);
      Walk(b, out_, cut_->count(), to, zero, true, &cut);
    }
    return absl::OkStatus();
  }

  // Where the first row of the block would lie: not after 0.
  void WhereItBegins(CodeBuilder& b, Sca first) {
    const Sca g = b.NewSca();
    b.GridIndex(g, 0);
    const Sca begin = b.SBinaryImm(
        Opcode::kSmin, b.SMulImm(g, static_cast<int32_t>(cut_->elements())),
        static_cast<int32_t>(cut_->LastBegin()));
    const Sca piece =
        b.SBinaryImm(Opcode::kSmin, Quotient(b, begin),
                     static_cast<int32_t>(in_.pieces() - cut_->in_count()));
    b.SMove(
        first,
        b.SBinary(Opcode::kSsub,
                  b.SMulImm(piece, static_cast<int32_t>(in_.piece())), begin));
  }

  // x / in_.piece(), bit by bit: scalar units do not divide.
  Sca Quotient(CodeBuilder& b, Sca x) {
    int bits = 0;
    while ((in_.piece() << bits) < cut_->steps() * cut_->elements()) ++bits;
    Sca quotient = b.SImm(0);
    for (int k = bits; k >= 0; --k) {
      const Sca less = b.SAddImm(x, static_cast<int32_t>(-(in_.piece() << k)));
      const auto fits = b.SCompareImm(Opcode::kScmpGe, less, 0);
      const Sca bit = b.SSelectImm(fits, b.SImm(1 << k), 0);
      quotient = b.SAdd(quotient, bit);
      x = b.SBinary(Opcode::kSsub, x,
                    b.SMulImm(b.SSelectImm(fits, b.SImm(1), 0),
                              static_cast<int32_t>(in_.piece() << k)));
    }
    return quotient;
  }

  // All rows of `count` pieces from address `at` on; `place` is where in the
  // line the first of them lies, `whole` if that is known to begin a row.
  void Walk(CodeBuilder& b, const ReflowSide& s, int64_t count, Sca at,
            Sca place, bool whole, LineRows* rows) {
    if (s.planes == 1) return Tiles(b, s, count, 0, at, place, whole, rows);
    Loop(b, count, s.piece_bytes(), s.piece(), at, place, [&](Sca a, Sca p) {
      Tiles(b, s, s.rows / s.tile_rows, s.rows % s.tile_rows, a, p,
            whole && s.piece() % kRow == 0, rows);
    });
  }

  // `full` rows of tiles and `rest` rows of one more.
  void Tiles(CodeBuilder& b, const ReflowSide& s, int64_t full, int64_t rest,
             Sca at, Sca place, bool whole, LineRows* rows) {
    const int64_t elements = s.tile_rows * s.columns;
    const bool wide = s.across > LineRows::kMostTiles;
    const auto emit = [&](LinePatch patch) {
      if (wide) return Wide(b, s, patch, rows);
      b.NewBlock("rows");
      patch.tiles = s.across;
      patch.last_lanes = LastLanes(s);
      rows->Emit(patch);
    };
    int64_t done = 0;
    // As many times so many rows of tiles as there are.
    const auto walk = [&](int64_t together, bool known, int64_t apart) {
      const int64_t trips = (full - done) / together;
      if (trips == 0) return;
      At(b, "next rows", done * s.row_stride(), done * elements, at, place,
         [&](Sca start, Sca line) {
           Loop(b, trips, together * s.row_stride(), together * elements, start,
                line, [&](Sca a, Sca p) {
                  emit({a, p, together * s.tile_rows, 0, 0, known, apart});
                });
         });
      done += trips * together;
    };
    const RowPeriod period(s);
    // Registers of eight rows that lie alike in the line.
    if (whole && period.JoinsEights() && (!wide || period.rows == 1) &&
        period.rows * s.across <= kMostRegisters) {
      const int64_t eights = 8 * period.rows / s.tile_rows;
      const int64_t most = wide ? 1 : kRegisters / (period.rows * s.across);
      walk(eights * std::clamp<int64_t>(most, 1,
                                        std::max<int64_t>(full / eights, 1)),
           true, period.rows);
    }
    const auto registers = [&](int64_t tiles) {
      return tiles * s.tile_rows * s.across;
    };
    whole = whole && (wide ? period.tiles == 1
                           : registers(period.tiles) <= kMostRegisters);
    int64_t together = 1;
    if (!wide) {
      if (whole) together = period.tiles;
      const int64_t most = whole ? kRegisters : kWithMasks;
      together *= std::max<int64_t>(most / registers(together), 1);
    }
    walk(together, whole, 0);
    const int64_t left = (full - done) * s.tile_rows + rest;
    if (left == 0) return;
    At(b, "last rows", done * s.row_stride(), done * elements, at, place,
       [&](Sca a, Sca p) {
         emit({a, p, left, 0, 0, whole, 0});
       });
  }

  static int64_t LastLanes(const ReflowSide& s) {
    return s.columns - (s.across - 1) * kRow;
  }

  // A row of more tiles than one block has code for.
  void Wide(CodeBuilder& b, const ReflowSide& s, LinePatch patch,
            LineRows* rows) {
    const auto emit = [&](Sca a, Sca p, int64_t tiles, int64_t lanes) {
      b.NewBlock("rows");
      patch.at = a;
      patch.place = p;
      patch.tiles = tiles;
      patch.last_lanes = lanes;
      rows->Emit(patch);
    };
    constexpr int64_t kTiles = LineRows::kMostTiles;
    const Sca at = patch.at, place = patch.place;
    const int64_t trips = (s.across - 1) / kTiles, done = trips * kTiles;
    Loop(b, trips, kTiles * s.tile_bytes(), kTiles * kRow, at, place,
         [&](Sca a, Sca p) { emit(a, p, kTiles, kRow); });
    At(b, "last columns", done * s.tile_bytes(), done * kRow, at, place,
       [&](Sca a, Sca p) { emit(a, p, s.across - done, LastLanes(s)); });
  }

  // `bytes` and `elements` further on.
  template <class Fn>
  void At(CodeBuilder& b, const char* name, int64_t bytes, int64_t elements,
          Sca at, Sca place, Fn body) {
    b.BeginScope();
    const Sca a = b.GlobalSca(), p = b.GlobalSca();
    b.NewBlock(name);
    b.SMove(a, b.SAddImm(at, static_cast<int32_t>(bytes)));
    b.SMove(p, b.SAddImm(place, static_cast<int32_t>(elements)));
    b.SetBank(a, codegen::kUnknownBanks, 0);
    body(a, p);
    b.EndScope();
  }

  template <class Fn>
  void Loop(CodeBuilder& b, int64_t trips, int64_t bytes, int64_t elements,
            Sca at, Sca place, Fn body) {
    const Sca k = b.BeginLoop(trips, 1);
    const Sca a = b.GlobalSca(), p = b.GlobalSca();
    b.NewBlock("next");
    b.SMove(a, b.SAdd(at, b.SMulImm(k, static_cast<int32_t>(bytes))));
    b.SMove(p, b.SAdd(place, b.SMulImm(k, static_cast<int32_t>(elements))));
    b.SetBank(a, codegen::kUnknownBanks, 0);
    body(a, p);
    b.EndLoop();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const ReflowSide in_, out_;
  std::vector<isa::KernelArg> args_;
  std::optional<ReflowSteps> cut_;
  Sca line_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitReflow(const KernelContext& context,
                                       const hlo::Instruction& i) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
  };
  if (i.opcode() != hlo::Opcode::kReshape) return refuse("not a reshape");
  ASSIGN_OR_RETURN(const PhysicalArray in,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  const auto from = ReflowSide::Of(in);
  const auto to = ReflowSide::Of(out);
  if (!from || !to || i.shape().ElementCount() >= kMostOfAll) {
    return refuse("a reshape of this form");
  }
  return Reflow(context, i, *from, *to).Emit();
}

}  // namespace ptxla::lowering

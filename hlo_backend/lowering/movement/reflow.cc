#include "hlo_backend/lowering/movement/reflow.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/reflow_side.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

enum Space { kIn, kLine, kOut };
constexpr int64_t kMostElements = 131072;  // of a step, where rows allow it
// Columns of one block of bundles.
constexpr int64_t kTogether = 4;
// Registers of one block where nothing is rotated.
constexpr int64_t kCopied = 32;
constexpr int64_t kMostOfAll = int64_t{1} << 30;
// Rows of the line before and behind what a step needs.
constexpr int64_t kSlackRows = 8;

class Reflow {
 public:
  Reflow(const KernelContext& context, const hlo::Instruction& i, ReflowSide in,
         ReflowSide out)
      : context_(context), i_(i), in_(in), out_(out) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    // A result in VMEM has no window that would cut off what is too much.
    const bool exact = args_[1].space == isa::Space::kVmem;
    // Registers begin at whole tiles of 8 rows.
    const int64_t unit =
        out_.planes > 1 ? 1 : CeilOfRatio<int64_t>(8, out_.tile_rows);
    int64_t count = std::max<int64_t>(kMostElements / out_.piece() / unit, 1);
    for (; count >= 1; --count) {
      count_ = std::min(count * unit, RoundUpTo(out_.pieces(), unit));
      if (exact && out_.pieces() % count_ != 0) continue;
      const Tiling t = Cutting();
      if (VmemBytes(context_, t) <= VmemBudget(context_)) {
        return FrameKernel(context_, t);
      }
      count = count / 2 + 1;
    }
    return Refuse("no block of this reshape fits into VMEM");
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

  Tiling Cutting() {
    Tiling t;
    t.args = args_;
    elements_ = count_ * out_.piece();
    steps_ = CeilOfRatio(out_.pieces(), count_);
    t.grid = {steps_};
    t.megacore_dim = steps_ > 1 ? 0 : -1;
    in_count_ = std::min(elements_ / in_.piece() + 2, in_.pieces());
    isa::Window in = WindowOf(in_, 0, isa::Direction::kIn, in_count_);
    isa::Window out = WindowOf(out_, 1, isa::Direction::kOut, count_);
    if (steps_ > 1) {
      in.dims[0].grid_dim = out.dims[0].grid_dim = 0;
      in.dims[0].advance = 1;
      for (int64_t g = 0; g < steps_; ++g) {
        in.dims[0].table.push_back(
            std::min(g * elements_ / in_.piece(), in_.pieces() - in_count_));
      }
    }
    in.slots = out.slots = steps_ > 1 ? 2 : 1;
    t.windows = {in, out};
    line_rows_ = CeilOfRatio<int64_t>(elements_, isa::kLanes);
    t.scratch_bytes = RoundUpTo<int64_t>(
        (line_rows_ + 3 * kSlackRows) * isa::kRowBytes, isa::kVregBytes);
    t.work.hbm_bytes = args_[0].bytes + args_[1].bytes;
    t.note = absl::StrCat("in a line, ", elements_, " elements a step");
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
    b.ScratchAddress(line_, static_cast<int32_t>(kSlackRows * isa::kRowBytes));
    b.SImmTo(zero, 0);
    // Where the first row of the block would lie: not after 0.
    const Sca g = b.NewSca();
    b.GridIndex(g, 0);
    const Sca begin = b.SMulImm(g, static_cast<int32_t>(elements_));
    const Sca piece =
        b.SBinaryImm(Opcode::kSmin, Quotient(b, begin),
                     static_cast<int32_t>(in_.pieces() - in_count_));
    b.SMove(
        first,
        b.SBinary(Opcode::kSsub,
                  b.SMulImm(piece, static_cast<int32_t>(in_.piece())), begin));
    Walk(b, in_, in_count_, from, first, true);
    if (out_.IsLine()) {
      Copy(b, to);
    } else {
      Walk(b, out_, count_, to, zero, false);
    }
    return absl::OkStatus();
  }

  // A result of one dimension is the line: registers of 8 rows.
  void Copy(CodeBuilder& b, Sca to) {
    const int64_t registers = CeilOfRatio<int64_t>(line_rows_, 8);
    const auto copies = [&](Sca from_line, Sca at, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        const auto offset = static_cast<int32_t>(k * isa::kVregBytes);
        b.Store(kOut, at, offset, b.Load(kLine, from_line, offset));
      }
    };
    const int64_t trips = registers / kCopied, done = trips * kCopied;
    if (trips > 0) {
      const int64_t bytes = kCopied * isa::kVregBytes;
      const Sca k = b.BeginLoop(trips, 1);
      b.NewBlock("copies");
      const Sca moved = b.SMulImm(k, static_cast<int32_t>(bytes));
      copies(b.SAdd(line_, moved), b.SAdd(to, moved), kCopied);
      b.EndLoop();
    }
    if (done == registers) return;
    b.NewBlock("last copies");
    const auto moved = static_cast<int32_t>(done * isa::kVregBytes);
    copies(b.SAddImm(line_, moved), b.SAddImm(to, moved), registers - done);
  }

  // x / in_.piece(), bit by bit: scalar units do not divide.
  Sca Quotient(CodeBuilder& b, Sca x) {
    int bits = 0;
    while ((in_.piece() << bits) < steps_ * elements_) ++bits;
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
  // line the first of them lies.
  void Walk(CodeBuilder& b, const ReflowSide& s, int64_t count, Sca at,
            Sca place, bool fill) {
    if (s.planes == 1) return Tiles(b, s, count, 0, at, place, fill);
    Loop(b, count, s.piece_bytes(), s.piece(), at, place, [&](Sca a, Sca p) {
      Tiles(b, s, s.rows / s.tile_rows, s.rows % s.tile_rows, a, p, fill);
    });
  }

  // `full` rows of tiles and `rest` rows of one more. Narrow ones are put into
  // one block of code, whose latency is that of one of them.
  void Tiles(CodeBuilder& b, const ReflowSide& s, int64_t full, int64_t rest,
             Sca at, Sca place, bool fill) {
    const int64_t together = std::max<int64_t>(kTogether / s.across, 1);
    const int64_t elements = s.tile_rows * s.columns;
    const int64_t trips = full / together, done = trips * together;
    if (trips > 0) {
      Loop(b, trips, together * s.row_stride(), together * elements, at, place,
           [&](Sca a, Sca p) {
             if (together == 1) return Tile(b, s, a, p, s.tile_rows, fill);
             b.NewBlock("rows");
             Narrow(b, s, together, 0, a, p, fill);
           });
    }
    if (done == full && rest == 0) return;
    b.BeginScope();
    const Sca a = b.GlobalSca(), p = b.GlobalSca();
    b.NewBlock("last rows");
    b.SMove(a, b.SAddImm(at, static_cast<int32_t>(done * s.row_stride())));
    b.SMove(p, b.SAddImm(place, static_cast<int32_t>(done * elements)));
    b.SetBank(a, codegen::kUnknownBanks, 0);
    if (together == 1) {
      Tile(b, s, a, p, rest, fill);
    } else {
      b.NewBlock("rows");
      Narrow(b, s, full - done, rest, a, p, fill);
    }
    b.EndScope();
  }

  // All columns of some rows of tiles, in the open block.
  void Narrow(CodeBuilder& b, const ReflowSide& s, int64_t full, int64_t rest,
              Sca at, Sca place, bool fill) {
    for (int64_t down = 0; down < full + (rest > 0 ? 1 : 0); ++down) {
      for (int64_t c = 0; c < s.across; ++c) {
        Rows(b, s, at, place, down < full ? s.tile_rows : rest, down, c,
             std::min<int64_t>(isa::kLanes, s.columns - c * isa::kLanes), fill);
      }
    }
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

  // A row of tiles: several columns together, and the rest.
  void Tile(CodeBuilder& b, const ReflowSide& s, Sca at, Sca place,
            int64_t rows, bool fill) {
    const int64_t full = s.across - 1;
    const int64_t trips = full / kTogether, done = trips * kTogether;
    if (trips > 0) {
      Loop(b, trips, kTogether * s.tile_bytes(), kTogether * isa::kLanes, at,
           place, [&](Sca a, Sca p) {
             b.NewBlock("rows");
             for (int64_t c = 0; c < kTogether; ++c) {
               Rows(b, s, a, p, rows, 0, c, isa::kLanes, fill);
             }
           });
    }
    b.BeginScope();
    const Sca a = b.GlobalSca(), p = b.GlobalSca();
    b.NewBlock("last columns");
    b.SMove(a, b.SAddImm(at, static_cast<int32_t>(done * s.tile_bytes())));
    b.SMove(p, b.SAddImm(place, static_cast<int32_t>(done * isa::kLanes)));
    b.SetBank(a, codegen::kUnknownBanks, 0);
    b.NewBlock("rows");
    for (int64_t c = 0; done + c < s.across; ++c) {
      const int64_t lanes =
          std::min<int64_t>(isa::kLanes, s.columns - (done + c) * isa::kLanes);
      Rows(b, s, a, p, rows, 0, c, lanes, fill);
    }
    b.EndScope();
  }

  // Rows of column `c`, `down` rows of tiles below `at`.
  void Rows(CodeBuilder& b, const ReflowSide& s, Sca at, Sca place,
            int64_t rows, int64_t down, int64_t c, int64_t lanes, bool fill) {
    for (int64_t r = 0; r < rows; ++r) {
      const Sca p = b.SAddImm(
          place, static_cast<int32_t>((down * s.tile_rows + r) * s.columns +
                                      c * isa::kLanes));
      Sca word = b.SBinaryImm(Opcode::kSshra, p, 7);
      // What is not of this step goes to the slack.
      word = b.SBinaryImm(Opcode::kSmax, word, -2);
      word =
          b.SBinaryImm(Opcode::kSmin, word, static_cast<int32_t>(line_rows_));
      const Sca line = b.SAdd(line_, b.SBinaryImm(Opcode::kSshll, word, 9));
      const Sca lane = b.SBinaryImm(Opcode::kSand, p, isa::kLanes - 1);
      const auto offset = static_cast<int32_t>(
          down * s.row_stride() + r * isa::kRowBytes + c * s.tile_bytes());
      if (fill) {
        const Vec v = b.RotateLanes(b.LoadRow(kIn, at, offset), lane);
        // Lanes of two rows of the line, counted from the first's first.
        const auto mine = b.CompareImm(
            Opcode::kVcmpLtU32,
            b.Binary(Opcode::kVsubS32, b.LaneSequence(), b.Splat(lane)),
            static_cast<uint32_t>(lanes));
        b.StoreMasked(kLine, line, 0, v, mine);
        continue;
      }
      const Vec here = b.LoadRow(kLine, line, 0);
      const Vec next = b.LoadRow(kLine, line, isa::kRowBytes);
      const auto mine = b.Compare(
          Opcode::kVcmpGeS32,
          b.BinaryImm(Opcode::kVand, b.LaneSequence(), isa::kLanes - 1),
          b.Splat(lane));
      const Sca back = b.SBinary(Opcode::kSsub, b.SImm(isa::kLanes), lane);
      b.StoreMasked(kOut, at, offset,
                    b.RotateLanes(b.Select(mine, here, next), back),
                    b.Range(0, isa::kLanes, 0, 1));
    }
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const ReflowSide in_, out_;
  std::vector<isa::KernelArg> args_;
  int64_t count_ = 1, in_count_ = 1;  // pieces of a step
  int64_t elements_ = 0, steps_ = 1, line_rows_ = 0;
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

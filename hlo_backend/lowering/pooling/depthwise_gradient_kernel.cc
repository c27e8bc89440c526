// EmitDepthwiseGradient: sums of planes times shifted planes, one for each tap.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/pooling/tap_groups.h"
#include "hlo_backend/lowering/pooling/tap_runs.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int kIn = 0, kGradient = 1, kOut = 2, kSums = 3;  // codegen spaces

// Registers of the content that the same code walks through: `columns` of them,
// one after the other, and for each those that lie `period` apart.
struct Registers {
  int64_t first = 0, columns = 0, apart = 1;
  int rows = 8;  // of each
};

class DepthwiseGradientEmitter {
 public:
  DepthwiseGradientEmitter(const KernelContext& context, const PoolForm& form,
                           int64_t unroll)
      : context_(context),
        form_(form),
        values_(form.op, form.type, context.model),
        results_(form.op, form.instruction->shape().type(), context.model),
        groups_(GroupTaps(form.axes)),
        unroll_(unroll) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(*form_.instruction));
    ASSIGN_OR_RETURN(in_,
                     PhysicalArray::Of(form_.instruction->operand(0)->shape()));
    ASSIGN_OR_RETURN(out_, PhysicalArray::Of(form_.instruction->shape()));
    gradient_arg_ = args_.size() == 2 ? 0 : 1;
    out_arg_ = static_cast<int>(args_.size()) - 1;
    per_register_ = isa::kVregBytes / in_.tile_bytes();
    int64_t tiles = in_.tiles_across;
    while (tiles % per_register_ != 0) tiles += in_.tiles_across;
    period_ = tiles / per_register_;
    std::vector<int64_t> extents, multiples;
    for (const WindowAxis& a : form_.axes) {
      extents.push_back(a.out);
      multiples.push_back(1);
    }
    ASSIGN_OR_RETURN(
        const PoolBlock block,
        ChoosePoolBlock(context_, form_, extents, multiples,
                        [this](const PoolBlock& b, PoolCandidate* c) {
                          return Plan(b, c);
                        }));
    PoolCandidate best;
    Plan(block, &best);
    if (context_.log != nullptr) context_.log->chosen = best.tiling.note;
    best.tiling.entry = [this](CodeBuilder& b) { return Clear(b); };
    best.tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, best.tiling);
  }

 private:
  bool InVmem(int arg) const { return args_[arg].space == isa::Space::kVmem; }

  // What lies beyond the end of a block would be added up.
  bool Plan(const PoolBlock& block, PoolCandidate* c) {
    if (form_.units % block.units != 0) return false;
    block_ = block;
    cuts_.clear();
    bool borders = false;
    std::vector<PlaneSpan> in, gradient;
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      const WindowAxis& axis = form_.axes[a];
      const auto cut = CutAxis(axis, block.grid[a], 1);
      if (!cut.has_value() || cut->grid != block.grid[a] ||
          axis.out % cut->outputs != 0) {
        return false;
      }
      cuts_.push_back(*cut);
      borders |= HasBorders(Border(a));
      in.push_back(
          {axis.in, axis.in_pitch, cut->origin, cut->planes, cut->advance});
      gradient.push_back(
          {axis.out, axis.tap_pitch, 0, cut->outputs, cut->outputs});
    }
    if (InVmem(0) && borders) return false;
    Tiling& t = c->tiling;
    t.args = args_;
    t.grid = block.Bounds();
    AddPlaneWindow(form_, block, 0, isa::Direction::kIn, in, &t);
    AddPlaneWindow(form_, block, gradient_arg_, isa::Direction::kIn, gradient,
                   &t);
    AddResult(&t);
    t.scratch_bytes = form_.Taps() * period_ * isa::kVregBytes;
    t.note = block.ToString();
    for (const isa::KernelArg& arg : args_) {
      if (arg.space == isa::Space::kHbm) t.work.hbm_bytes += arg.bytes;
    }
    t.work.flops = 2 * form_.Taps() *
                   form_.instruction->operand(1)->shape().ElementCount();
    windows_ = t.windows;
    c->body = BodyCycles();
    return true;
  }

  // All of it, for all steps.
  void AddResult(Tiling* t) const {
    isa::Window w;
    w.arg = out_arg_;
    w.direction = isa::Direction::kOut;
    isa::WindowDim all;
    all.hbm_stride = all.vmem_stride = out_.bytes();
    w.dims = {all};
    w.inner_bytes = out_.bytes();
    w.slots = 1;
    w.slot_bytes = RoundUpTo<int64_t>(out_.bytes(), isa::kVregBytes);
    t->windows.push_back(std::move(w));
  }

  // Borders of an axis that lies whole are not met.
  BorderAxis Border(size_t a) const {
    const AxisBlock& cut = cuts_[a];
    return {form_.axes[a].in, cut.origin,
            cut.advance,      cut.Moves() ? cut.planes : 0,
            cut.grid,         block_.AxisDim(a)};
  }

  int64_t ContentBytes() const { return block_.units * form_.unit_bytes; }

  // By the units that the step needs most.
  int64_t BodyCycles() const {
    int64_t registers = CeilOfRatio<int64_t>(ContentBytes(), isa::kVregBytes);
    for (const AxisBlock& cut : cuts_) registers *= cut.outputs;
    int64_t loads = 0, vectors = 0;
    for (const TapGroup& g : groups_) {
      // Planes that one of the gradient meets and its neighbour did not.
      const int64_t met =
          g.Count() / g.last.count *
          std::min<int64_t>(g.last.count, form_.axes.back().stride);
      loads += 1 + met;
      vectors += (1 + met) * values_.take_ops() +
                 2 * g.Count() * values_.combine_ops();
    }
    const isa::MachineModel& m = context_.model;
    return registers *
           std::max(CeilOfRatio<int64_t>(vectors, m.Slots(isa::Slot::kVector)),
                    CeilOfRatio<int64_t>(loads, m.Slots(isa::Slot::kLoad)));
  }

  absl::Status Clear(CodeBuilder& b) {
    b.NewBlock("clear");
    const Sca sums = b.NewSca();
    b.ScratchAddress(sums, 0);
    const Vec zero = b.Imm(0);
    for (int64_t k = 0; k < form_.Taps() * period_; ++k) {
      b.Store(kSums, sums, static_cast<int32_t>(k * isa::kVregBytes), zero);
    }
    return absl::OkStatus();
  }

  int64_t Pitch(const isa::Window& w, int arg, size_t a) const {
    return InVmem(arg) ? w.dims[a].hbm_stride : w.dims[a].vmem_stride;
  }

  absl::Status Body(CodeBuilder& b) {
    BorderFill fill;
    fill.space = kIn;
    for (size_t a = 0; a < cuts_.size(); ++a) fill.axes.push_back(Border(a));
    FillBorders(fill, windows_[0], 0, &b);
    b.NewBlock("addresses");
    x_ = b.GlobalSca();
    dy_ = b.GlobalSca();
    sums_ = b.GlobalSca();
    WindowBase(windows_[0], 0, InVmem(0), x_, &b);
    WindowBase(windows_[1], 1, InVmem(gradient_arg_), dy_, &b);
    b.ScratchAddress(sums_, 0);
    b.SetBank(sums_, CodeBuilder::kAbsoluteBanks, 0);
    for (size_t a = 0; a < cuts_.size(); ++a) {
      x_pitch_.push_back(Pitch(windows_[0], 0, a));
      dy_pitch_.push_back(Pitch(windows_[1], gradient_arg_, a));
    }
    // Whole periods, the registers behind them, and part of one.
    const int64_t whole = ContentBytes() / isa::kVregBytes;
    const int64_t periods = whole / period_;
    const auto rest =
        static_cast<int>(ContentBytes() % isa::kVregBytes / isa::kRowBytes);
    for (const TapGroup& group : groups_) {
      if (periods > 0) Sum(group, {0, period_, periods}, b);
      if (whole % period_ > 0) {
        Sum(group, {periods * period_, whole % period_, 1}, b);
      }
      if (rest > 0) Sum(group, {whole, 1, 1, rest}, b);
    }
    for (size_t d = 0; d < block_.Bounds().size(); ++d) {
      b.BeginWhen(static_cast<int>(d), isa::When::Kind::kLast);
    }
    Finish(b);
    for (size_t d = 0; d < block_.Bounds().size(); ++d) b.EndWhen();
    return absl::OkStatus();
  }

  // Adds what these registers of all planes give to the group's sums.
  void Sum(const TapGroup& group, const Registers& registers, CodeBuilder& b) {
    b.BeginScope();
    b.NewBlock("addresses");
    const auto moved = [&](Sca base, int64_t bytes) {
      const Sca at = b.GlobalSca();
      b.SBinaryImmTo(at, Opcode::kSadd, base, static_cast<int32_t>(bytes));
      b.SetBank(at, codegen::kUnknownBanks, 0);
      return at;
    };
    const int64_t begin = registers.first * isa::kVregBytes;
    const int64_t next = form_.Taps() * isa::kVregBytes;
    const Sca x = moved(x_, begin), dy = moved(dy_, begin);
    const Sca sums = moved(sums_, registers.first % period_ * next);
    const auto step = [&](Sca at, int64_t bytes) {
      b.SBinaryImmTo(at, Opcode::kSadd, at, static_cast<int32_t>(bytes));
    };
    sum_.clear();
    ForEachTap(group, [&](int64_t tap) { sum_[tap] = b.GlobalVec(); });
    b.BeginLoop(registers.columns, 1);
    for (const auto& [tap, sum] : sum_) b.ImmTo(sum, 0);
    if (registers.apart > 1) {
      b.BeginScope();
      b.NewBlock("addresses");
      const Sca x2 = moved(x, 0), dy2 = moved(dy, 0);
      b.BeginLoop(registers.apart, 1);
      Walk(group, x2, dy2, registers.rows, b);
      step(x2, period_ * isa::kVregBytes);
      step(dy2, period_ * isa::kVregBytes);
      b.EndLoop();
      b.EndScope();
    } else {
      Walk(group, x, dy, registers.rows, b);
    }
    b.NewBlock("sums");
    for (const auto& [tap, sum] : sum_) {
      const auto at = static_cast<int32_t>(tap * isa::kVregBytes);
      b.Store(kSums, sums, at,
              b.Binary(Opcode::kVaddF32, b.Load(kSums, sums, at), sum));
    }
    step(x, isa::kVregBytes);
    step(dy, isa::kVregBytes);
    step(sums, next);
    b.EndLoop();
    b.NewBlock("addresses");
    b.EndScope();
  }

  // One register of each plane.
  void Walk(const TapGroup& group, Sca x, Sca dy, int rows, CodeBuilder& b) {
    PlanePointer from, with;
    from.base = x;
    with.base = dy;
    taps_.clear();
    std::vector<std::vector<PlaneRun>> runs;
    for (size_t a = 0; a < cuts_.size(); ++a) {
      std::vector<TapRun>& met = taps_.emplace_back();
      std::vector<PlaneRun>& planes = runs.emplace_back();
      for (TapRun& run : TapRunsOf(form_.axes[a], cuts_[a])) {
        if (!Meets(run, group.axis(a))) continue;
        planes.push_back(run.results);
        met.push_back(std::move(run));
      }
      // Where its windows begin is in the offsets of a run.
      from.pitch.push_back(AdvanceOf(form_.axes[a]) * x_pitch_[a]);
      from.first_pitch.push_back(0);
      with.pitch.push_back(PeriodOf(form_.axes[a]) * dy_pitch_[a]);
      with.first_pitch.push_back(dy_pitch_[a]);
    }
    WalkPlanes(
        runs, {from, with}, {Piece{0, rows}}, unroll_,
        [&](const PlaneBody& body) { Products(group, body, rows, b); }, &b);
  }

  // Of some neighbouring planes of the gradient.
  void Products(const TapGroup& group, const PlaneBody& body, int rows,
                CodeBuilder& b) {
    struct Tap {
      int64_t offset = 0, number = 0;
    };
    std::vector<Tap> taps = {{}};
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      const TapRun& run = taps_[a][body.runs[a]];
      std::vector<Tap> inner;
      for (const Tap& from : taps) {
        for (size_t t = 0; t < run.taps.size(); ++t) {
          if (!group.axis(a).Has(run.numbers[t])) continue;
          inner.push_back(
              {from.offset + (run.first_plane + run.taps[t]) * x_pitch_[a],
               from.number * form_.axes[a].taps + run.numbers[t]});
        }
      }
      taps = std::move(inner);
    }
    const size_t last = form_.axes.size() - 1;
    const int64_t advance = AdvanceOf(form_.axes[last]) * x_pitch_[last];
    const int64_t along = PeriodOf(form_.axes[last]) * dy_pitch_[last];
    std::map<int64_t, std::vector<Vec>> planes;
    for (int64_t c = 0; c < body.copies; ++c) {
      const std::vector<Vec> dy =
          values_.Take(b, LoadPiece(b, kGradient, body.at[1],
                                    body.offset[1] + c * along, rows));
      for (const Tap& tap : taps) {
        const int64_t at = tap.offset + c * advance;
        std::vector<Vec>& x = planes[at];
        if (x.empty()) {
          x = values_.Take(
              b, LoadPiece(b, kIn, body.at[0], body.offset[0] + at, rows));
        }
        Vec product;
        for (size_t p = 0; p < x.size(); ++p) {
          const Vec part = b.Binary(Opcode::kVmulF32, x[p], dy[p]);
          product = p == 0 ? part : b.Binary(Opcode::kVaddF32, product, part);
        }
        // What is loaded of part of a register fills all of it.
        if (rows < 8) {
          product = b.SelectImm(b.Range(0, isa::kLanes, 0, rows), product, 0);
        }
        const Vec sum = sum_.at(tap.number);
        b.BinaryTo(sum, Opcode::kVaddF32, sum, product);
      }
    }
  }

  // Adds the rows of each sum and writes the result, tap by tap.
  void Finish(CodeBuilder& b) {
    b.BeginScope();
    b.NewBlock("addresses");
    const Sca to = b.GlobalSca(), from = b.GlobalSca();
    WindowBase(windows_[2], 2, InVmem(out_arg_), to, &b);
    b.SMove(from, sums_);
    b.BeginLoop(form_.Taps(), 1);
    const auto sublanes = static_cast<int>(8 / per_register_);
    std::vector<Vec> columns(in_.tiles_across);
    for (int64_t k = 0; k < period_; ++k) {
      const int64_t at = k * form_.Taps() * isa::kVregBytes;
      Vec v = b.Load(kSums, from, static_cast<int32_t>(at));
      for (int n = sublanes / 2; n > 0; n /= 2) {
        v = b.Binary(Opcode::kVaddF32, v, b.RotateSublanes(v, 8 - n));
      }
      for (int64_t t = 0; t < per_register_; ++t) {
        Vec& column = columns[(k * per_register_ + t) % in_.tiles_across];
        const Vec part =
            t == 0 ? v
                   : b.RotateSublanes(v, 8 - static_cast<int>(t) * sublanes);
        column =
            column.valid() ? b.Binary(Opcode::kVaddF32, column, part) : part;
      }
    }
    for (int64_t n = 0; n < in_.tiles_across; ++n) {
      std::vector<Vec> parts = {columns[n]};
      if (results_.parts() == 2) parts.push_back(b.Imm(0));
      StorePiece(b, kOut, to, out_.TileOffset(0, 0, n), 1,
                 results_.Put(b, parts));
    }
    b.SBinaryImmTo(from, Opcode::kSadd, from, isa::kVregBytes);
    b.SBinaryImmTo(to, Opcode::kSadd, to,
                   static_cast<int32_t>(out_.plane_stride()));
    b.EndLoop();
    b.NewBlock("addresses");
    b.EndScope();
  }

  // The numbers that the taps have among all.
  template <class Fn>
  void ForEachTap(const TapGroup& group, Fn fn) const {
    std::vector<int64_t> counts;
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      counts.push_back(group.axis(a).count);
    }
    ForEachIndex(counts, [&](const std::vector<int64_t>& at) {
      int64_t number = 0;
      for (size_t a = 0; a < at.size(); ++a) {
        number = number * form_.axes[a].taps + group.axis(a).first + at[a];
      }
      fn(number);
    });
  }

  const KernelContext& context_;
  const PoolForm& form_;
  const PoolValues values_, results_;
  const std::vector<TapGroup> groups_;
  const int64_t unroll_;
  std::vector<isa::KernelArg> args_;
  int gradient_arg_ = 1, out_arg_ = 2;
  PhysicalArray in_, out_;
  int64_t per_register_ = 1;  // tiles
  // Registers after which the columns of tiles come again.
  int64_t period_ = 1;
  PoolBlock block_;
  std::vector<AxisBlock> cuts_;
  std::vector<isa::Window> windows_;
  std::vector<int64_t> x_pitch_, dy_pitch_;
  Sca x_, dy_, sums_;
  std::vector<std::vector<TapRun>> taps_;
  std::map<int64_t, Vec> sum_;  // by the tap's number
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitDepthwiseGradient(const KernelContext& context,
                                                  const PoolForm& form) {
  absl::StatusOr<isa::Kernel> kernel;
  for (int64_t unroll = 16; unroll > 0; unroll /= 2) {
    kernel = DepthwiseGradientEmitter(context, form, unroll).Emit();
    if (!absl::IsResourceExhausted(kernel.status())) break;
  }
  return kernel;
}

}  // namespace ptxla::lowering

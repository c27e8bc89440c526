#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/pooling/scatter_axis.h"
#include "hlo_backend/lowering/pooling/selected_taps.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

using W = SelectedTaps::Window;
constexpr int kOperand = W::kOperand, kSource = W::kSource, kOut = W::kOut;
constexpr int kTaken = W::kTaken;

class SelectScatterEmitter {
 public:
  SelectScatterEmitter(const KernelContext& context, const PoolForm& form,
                       int64_t unroll)
      : context_(context),
        form_(form),
        values_(form.op, form.type, context.model, /*apart=*/true),
        unroll_(unroll) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(*form_.instruction));
    std::vector<int64_t> extents, multiples;
    for (const WindowAxis& a : form_.axes) {
      extents.push_back(a.in);
      multiples.push_back(a.stride);
    }
    const auto choose = [&] {
      return ChoosePoolBlock(
          context_, form_, extents, multiples,
          [this](const PoolBlock& b, PoolCandidate* c) { return Plan(b, c); });
    };
    absl::StatusOr<PoolBlock> block = choose();
    if (!block.ok()) {
      meets_before_ = true;
      block = choose();
    }
    RETURN_IF_ERROR(block.status());
    PoolCandidate best;
    Plan(*block, &best);
    if (context_.log != nullptr) context_.log->chosen = best.tiling.note;
    best.tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, best.tiling);
  }

 private:
  static constexpr int kArgs = 3;  // windows
  int Arg(int window) const {
    return window == kOut ? static_cast<int>(args_.size()) - 1 : window;
  }
  bool InVmem(int window) const {
    return args_[Arg(window)].space == isa::Space::kVmem;
  }

  bool Plan(const PoolBlock& block, PoolCandidate* c) {
    block_ = block;
    axes_.clear();
    const bool parts = form_.units % block.units != 0;
    bool ragged = parts;
    std::vector<PlaneSpan> seen, windows, result;
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      const WindowAxis& w = form_.axes[a];
      axes_.push_back(ScatterAxis::Of(w, block.grid[a]));
      const ScatterAxis& s = axes_.back();
      if (CeilOfRatio(w.in, s.planes) != block.grid[a]) return false;
      ragged |= w.in % s.planes != 0;
      seen.push_back(s.seen);
      windows.push_back(s.windows);
      result.push_back({w.in, w.in_pitch, 0, s.planes, s.planes});
    }
    if (InVmem(kOut) && ragged) return false;
    skips_before_ = PadsBefore(block) && !meets_before_;
    const auto edge = EdgeAxis(axes_, block.grid, Met());
    if (!edge.has_value() || (InPlace().any() && parts)) return false;
    edge_ = *edge;
    Tiling& t = c->tiling;
    t.args = args_;
    t.grid = block.Bounds();
    t.megacore_dim = block.MegacoreDim(false);
    const isa::Direction in = isa::Direction::kIn;
    AddPlaneWindow(form_, block, Arg(kOperand), in, seen, &t);
    AddPlaneWindow(form_, block, Arg(kSource), in, windows, &t);
    AddPlaneWindow(form_, block, Arg(kOut), isa::Direction::kOut, result, &t);
    pieces_ = PiecesOf(block.units * form_.unit_bytes);
    taken_pitch_ = RoundUpTo<int64_t>(
        block.units * form_.unit_bytes * values_.parts(), isa::kVregBytes);
    int64_t all_windows = 1, all_planes = 1;
    for (const ScatterAxis& s : axes_) {
      all_windows *= s.windows.planes;
      all_planes *= s.planes;
    }
    // A store of a part of a register reaches, masked, over the rest of it.
    const bool whole = pieces_.back().rows == 8;
    t.scratch_bytes =
        all_windows * taken_pitch_ + (whole ? 0 : isa::kVregBytes);
    t.note = block.ToString();
    for (const isa::KernelArg& arg : args_) {
      if (arg.space == isa::Space::kHbm) t.work.hbm_bytes += arg.bytes;
    }
    t.work.flops =
        form_.instruction->operand(1)->shape().ElementCount() * form_.Taps();
    windows_ = t.windows;
    c->body = BodyCycles(all_windows, all_planes);
    return true;
  }

  ArraysInPlace InPlace() const { return {InVmem(kOperand), InVmem(kSource)}; }
  // Whose borders no code reads.
  ArraysInPlace Met() const {
    ArraysInPlace met = InPlace();
    met.before = skips_before_;
    return met;
  }

  // Windows may meet a border before their first plane. Filled with the least
  // number it would be the one that they select where they see nothing larger.
  // So code skips it, which blocks that are cut along one such axis have; only
  // where no other block fits is it met.
  bool PadsBefore(const PoolBlock& block) const {
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      if (block.grid[a] > 1 && form_.axes[a].padding > 0) return true;
    }
    return false;
  }

  int64_t BodyCycles(int64_t windows, int64_t planes) const {
    const auto pieces = static_cast<int64_t>(pieces_.size());
    const int64_t parts = values_.parts();
    double covering = 1;
    for (const WindowAxis& w : form_.axes) {
      covering *= static_cast<double>(w.taps) / static_cast<double>(w.stride);
    }
    const double vectors =
        static_cast<double>(windows * form_.Taps() *
                            (3 * parts + values_.take_ops())) +
        static_cast<double>(planes) * covering *
            static_cast<double>(3 * parts + values_.take_ops());
    return static_cast<int64_t>(static_cast<double>(pieces) * vectors) /
           context_.model.Slots(isa::Slot::kVector);
  }

  int64_t Pitch(int window, size_t a) const {
    const isa::WindowDim& d = windows_[window].dims[a];
    return InVmem(window) ? d.hbm_stride : d.vmem_stride;
  }

  void Fill(int window, uint32_t value, CodeBuilder& b) {
    if (InVmem(window)) return;
    BorderFill fill;
    fill.space = window;
    fill.value = value;
    for (size_t a = 0; a < axes_.size(); ++a) {
      const PlaneSpan& s =
          window == kOperand ? axes_[a].seen : axes_[a].windows;
      fill.axes.push_back({s.extent, s.origin, s.advance, s.planes,
                           block_.grid[a], block_.AxisDim(a)});
    }
    FillBorders(fill, windows_[window], window, &b);
  }

  absl::Status Body(CodeBuilder& b) {
    const PoolValues least(hlo::Opcode::kMaximum, form_.type, context_.model);
    Fill(kOperand, least.packed_identity(), b);
    Fill(kSource, values_.packed_identity(), b);
    b.NewBlock("addresses");
    std::vector<PlanePointer> p(kArgs + 1);
    for (int w = 0; w <= kArgs; ++w) {
      p[w].base = b.GlobalSca();
      if (w < kArgs) {
        WindowBase(windows_[w], w, InVmem(w), p[w].base, &b);
      } else {
        b.ScratchAddress(p[w].base, 0);
        b.SetBank(p[w].base, CodeBuilder::kAbsoluteBanks, 0);
        p[w].scale = values_.parts();
      }
    }
    int64_t inside = 1;
    for (auto& pitches : pitches_) pitches.assign(axes_.size(), 0);
    for (size_t a = axes_.size(); a-- > 0;) {
      pitches_[kTaken][a] = inside * taken_pitch_;
      inside *= axes_[a].windows.planes;
    }
    for (size_t a = 0; a < axes_.size(); ++a) {
      for (int w = 0; w < kArgs; ++w) pitches_[w][a] = Pitch(w, a);
      const int64_t stride = form_.axes[a].stride;
      p[kOperand].pitch.push_back(stride * pitches_[kOperand][a]);
      p[kSource].pitch.push_back(pitches_[kSource][a]);
      p[kOut].pitch.push_back(stride * pitches_[kOut][a]);
      p[kTaken].pitch.push_back(pitches_[kTaken][a]);
    }
    edge_ < 0 ? Steps(p, b) : Edges(p, b);
    return absl::OkStatus();
  }

  void Edges(const std::vector<PlanePointer>& p, CodeBuilder& b) {
    const int64_t last = block_.grid[edge_] - 1;
    const ScatterAxis inner = axes_[edge_];
    const int dim = block_.AxisDim(edge_);
    const auto some = [&](const ScatterAxis& axis, bool first, bool end) {
      b.BeginWhen(dim, first ? When::Kind::kFirst : When::Kind::kNotFirst);
      b.BeginWhen(dim, end ? When::Kind::kLast : When::Kind::kNotLast);
      axes_[edge_] = axis;
      Steps(p, b);
      b.EndWhen();
      b.EndWhen();
    };
    some(inner.MetIn(0, Met()), true, false);
    if (last > 1) some(inner, false, false);
    some(inner.MetIn(last, Met()), false, true);
    axes_[edge_] = inner;
  }

  // The code of all steps, or of those that meet the same planes.
  void Steps(const std::vector<PlanePointer>& p, CodeBuilder& b) {
    std::vector<std::vector<PlaneRun>> windows(axes_.size()),
        planes(axes_.size());
    SelectedTaps taps(form_, values_, axes_, pitches_, &b);
    for (size_t a = 0; a < axes_.size(); ++a) {
      for (const WindowRun& r : taps.windows(a)) {
        windows[a].push_back(r.windows);
      }
      for (const ResultRun& r : taps.results(a)) planes[a].push_back(r.planes);
    }
    WalkPlanes(
        windows, {p[kOperand], p[kTaken]}, pieces_, unroll_,
        [&](const PlaneBody& body) { taps.Take(body); }, &b);
    WalkPlanes(
        planes, {p[kSource], p[kTaken], p[kOut]}, pieces_, unroll_,
        [&](const PlaneBody& body) { taps.Sum(body); }, &b);
  }

  const KernelContext& context_;
  const PoolForm& form_;
  const PoolValues values_;
  const int64_t unroll_;
  std::vector<isa::KernelArg> args_;
  PoolBlock block_;
  std::vector<ScatterAxis> axes_;
  int edge_ = -1;              // axis whose ends have code of their own
  bool skips_before_ = false;  // code meets no border before the operand
  bool meets_before_ = false;  // no block whose code does so was found
  std::vector<PlanePiece> pieces_;
  std::vector<isa::Window> windows_;
  int64_t taken_pitch_ = 0;  // bytes of one window's taps
  SelectedTaps::Pitches pitches_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitSelectAndScatter(const KernelContext& context,
                                                 const PoolForm& form) {
  absl::StatusOr<isa::Kernel> kernel;
  for (int64_t unroll = 8; unroll > 0; unroll /= 2) {
    kernel = SelectScatterEmitter(context, form, unroll).Emit();
    if (!absl::IsResourceExhausted(kernel.status())) break;
  }
  return kernel;
}

}  // namespace ptxla::lowering

// EmitDepthwiseGradient: sums of planes times shifted planes, one for each tap.
#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/pooling/depthwise_sums.h"
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

constexpr int kIn = DepthwiseSums::kIn, kSums = DepthwiseSums::kSums;
constexpr int kOut = 2;  // codegen spaces

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
    std::vector<int64_t> extents;
    for (const WindowAxis& a : form_.axes) extents.push_back(a.out);
    return EmitInBlocks(
        context_, form_, extents,
        [this](const PoolBlock& b, PoolCandidate* c) { return Plan(b, c); },
        [this](Tiling* t) {
          t->entry = [this](CodeBuilder& b) { return Clear(b); };
          t->body = [this](CodeBuilder& b) { return Body(b); };
        });
  }

 private:
  bool InVmem(int arg) const { return args_[arg].space == isa::Space::kVmem; }

  // What lies beyond the end of a block would be added up.
  bool Plan(const PoolBlock& block, PoolCandidate* c) {
    block_ = block;
    const auto cut = CutWindows(form_, block);
    if (!cut.has_value() || cut->ragged || (InVmem(0) && cut->has_borders)) {
      return false;
    }
    cuts_ = *cut;
    Tiling& t = c->tiling;
    t.args = args_;
    t.grid = block.Bounds();
    AddPlaneWindow(form_, block, 0, isa::Direction::kIn, cuts_.in, &t);
    AddPlaneWindow(form_, block, gradient_arg_, isa::Direction::kIn,
                   cuts_.windows, &t);
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

  int64_t ContentBytes() const { return block_.units * form_.unit_bytes; }

  // By the units that the step needs most.
  int64_t BodyCycles() const {
    int64_t registers = CeilOfRatio<int64_t>(ContentBytes(), isa::kVregBytes);
    for (const AxisBlock& cut : cuts_.axes) registers *= cut.outputs;
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
    fill.axes = cuts_.borders;
    FillBorders(fill, windows_[0], 0, &b);
    b.NewBlock("addresses");
    DepthwiseSums::Planes planes;
    planes.x = b.GlobalSca();
    planes.dy = b.GlobalSca();
    planes.sums = b.GlobalSca();
    WindowBase(windows_[0], 0, InVmem(0), planes.x, &b);
    WindowBase(windows_[1], 1, InVmem(gradient_arg_), planes.dy, &b);
    b.ScratchAddress(planes.sums, 0);
    b.SetBank(planes.sums, CodeBuilder::kAbsoluteBanks, 0);
    for (size_t a = 0; a < cuts_.axes.size(); ++a) {
      planes.x_pitch.push_back(Pitch(windows_[0], 0, a));
      planes.dy_pitch.push_back(Pitch(windows_[1], gradient_arg_, a));
    }
    DepthwiseSums(form_, values_, cuts_.axes, planes, period_, unroll_, &b)
        .Add(groups_, ContentBytes());
    sums_ = planes.sums;
    for (size_t d = 0; d < block_.Bounds().size(); ++d) {
      b.BeginWhen(static_cast<int>(d), isa::When::Kind::kLast);
    }
    Finish(b);
    for (size_t d = 0; d < block_.Bounds().size(); ++d) b.EndWhen();
    return absl::OkStatus();
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
  WindowCuts cuts_;
  std::vector<isa::Window> windows_;
  Sca sums_;
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

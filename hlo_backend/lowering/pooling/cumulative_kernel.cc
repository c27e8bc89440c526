#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;
using isa::When;

constexpr int kIn = 0, kOut = 1, kCarry = 2;  // codegen spaces
// Planes that one turn of the loop takes.
constexpr int64_t kPlanes = 8;

class CumulativeEmitter {
 public:
  CumulativeEmitter(const KernelContext& context, const PoolForm& form,
                    int64_t unroll)
      : context_(context),
        form_(form),
        axis_(form.cumulative),
        values_(form.op, form.type, context.model),
        unroll_(unroll) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(*form_.instruction));
    std::vector<int64_t> extents;
    for (const WindowAxis& a : form_.axes) extents.push_back(a.in);
    return EmitInBlocks(
        context_, form_, extents,
        [this](const PoolBlock& b, PoolCandidate* c) { return Plan(b, c); },
        [this](Tiling* t) {
          t->body = [this](CodeBuilder& b) { return Body(b); };
        });
  }

 private:
  int OutArg() const { return static_cast<int>(args_.size()) - 1; }
  bool InVmem(int arg) const { return args_[arg].space == isa::Space::kVmem; }
  bool Carries() const { return block_.grid[axis_] > 1; }

  bool Plan(const PoolBlock& block, PoolCandidate* c) {
    block_ = block;
    planes_.clear();
    bool ragged = form_.units % block.units != 0;
    std::vector<PlaneSpan> spans;
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      const WindowAxis& axis = form_.axes[a];
      planes_.push_back(CeilOfRatio(axis.in, block.grid[a]));
      ragged |= axis.in % planes_[a] != 0;
      // Walked from its end, a block must not begin with planes that are none.
      if (static_cast<int>(a) == axis_ && form_.from_end &&
          axis.in % planes_[a] != 0) {
        return false;
      }
      spans.push_back({axis.in, axis.in_pitch, 0, planes_[a], planes_[a]});
    }
    if ((InVmem(0) || InVmem(OutArg())) && ragged) return false;
    Tiling& t = c->tiling;
    t.args = args_;
    t.grid = block.Bounds();
    t.megacore_dim = block.MegacoreDim(/*ordered=*/true);
    AddPlaneWindow(form_, block, 0, isa::Direction::kIn, spans, &t);
    AddPlaneWindow(form_, block, OutArg(), isa::Direction::kOut, spans, &t);
    if (form_.from_end && Carries()) {
      for (isa::Window& w : t.windows) {
        for (int64_t g = block.grid[axis_]; g-- > 0;) {
          w.dims[axis_].table.push_back(g);
        }
      }
    }
    leading_ = 1;
    for (int a = 0; a < axis_; ++a) leading_ *= planes_[a];
    const int64_t content = block.units * form_.unit_bytes * values_.parts();
    carry_pitch_ = RoundUpTo<int64_t>(content, isa::kVregBytes);
    if (Carries()) t.scratch_bytes = leading_ * carry_pitch_;
    t.note = block.ToString();
    for (const isa::KernelArg& arg : args_) {
      if (arg.space == isa::Space::kHbm) t.work.hbm_bytes += arg.bytes;
    }
    t.work.flops = form_.instruction->shape().ElementCount();
    windows_ = t.windows;
    const isa::MachineModel& m = context_.model;
    const int64_t registers =
        leading_ * planes_[axis_] *
        CeilOfRatio<int64_t>(block.units * form_.unit_bytes, isa::kVregBytes);
    const int64_t vectors =
        registers * (values_.take_ops() + values_.combine_ops() +
                     (values_.parts() == 2 ? 1 : 0));
    c->body =
        std::max({CeilOfRatio<int64_t>(registers, m.Slots(isa::Slot::kStore)),
                  CeilOfRatio<int64_t>(registers, m.Slots(isa::Slot::kLoad)),
                  CeilOfRatio<int64_t>(vectors, m.Slots(isa::Slot::kVector))});
    return true;
  }

  int64_t Pitch(int window, int arg, size_t a) const {
    const isa::WindowDim& d = windows_[window].dims[a];
    return InVmem(arg) ? d.hbm_stride : d.vmem_stride;
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    PlanePointer from{b.GlobalSca(), {}}, to{b.GlobalSca(), {}};
    WindowBase(windows_[0], 0, InVmem(0), from.base, &b);
    WindowBase(windows_[1], 1, InVmem(OutArg()), to.base, &b);
    std::vector<PlanePointer> pointers = {from, to};
    if (Carries()) {
      PlanePointer carry{b.GlobalSca(), {}, values_.parts()};
      b.ScratchAddress(carry.base, 0);
      b.SetBank(carry.base, CodeBuilder::kAbsoluteBanks, 0);
      pointers.push_back(carry);
    }
    std::vector<std::vector<PlaneRun>> runs;
    int64_t inside = leading_;
    for (int a = 0; a <= axis_; ++a) {
      const bool leading = a < axis_;
      runs.push_back({{0, leading ? planes_[a] : 1}});
      pointers[0].pitch.push_back(Pitch(0, 0, a));
      pointers[1].pitch.push_back(Pitch(1, OutArg(), a));
      if (leading) inside /= planes_[a];
      if (Carries()) pointers[2].pitch.push_back(inside * carry_pitch_);
    }
    WalkPlanes(
        runs, pointers, PiecesOf(block_.units * form_.unit_bytes), unroll_,
        [&](const PlaneBody& body) { Column(body, b); }, &b);
    return absl::OkStatus();
  }

  // Some pieces of the content, along the whole axis.
  void Column(const PlaneBody& body, CodeBuilder& b) {
    b.BeginScope();
    b.NewBlock("start");
    std::vector<std::vector<Vec>> sums(body.pieces.size());
    for (std::vector<Vec>& sum : sums) {
      for (int p = 0; p < values_.parts(); ++p) {
        sum.push_back(b.GlobalVec());
        b.ImmTo(sum.back(), values_.identity());
      }
    }
    if (Carries()) {
      b.BeginWhen(block_.AxisDim(axis_), When::Kind::kNotFirst);
      b.NewBlock("carry");
      for (size_t k = 0; k < sums.size(); ++k) {
        for (int p = 0; p < values_.parts(); ++p) {
          b.Move(sums[k][p],
                 LoadPiece(b, kCarry, body.at[2], CarryAt(body, k, p),
                           body.pieces[k].rows));
        }
      }
      b.EndWhen();
    }
    const int64_t in = Pitch(0, 0, axis_), out = Pitch(1, OutArg(), axis_);
    const int64_t planes = planes_[axis_];
    const int64_t sign = form_.from_end ? -1 : 1;
    const int64_t start = form_.from_end ? planes - 1 : 0;
    b.NewBlock("addresses");
    const Sca from = b.GlobalSca(), to = b.GlobalSca();
    b.SBinaryImmTo(from, Opcode::kSadd, body.at[0],
                   static_cast<int32_t>(body.offset[0] + start * in));
    b.SBinaryImmTo(to, Opcode::kSadd, body.at[1],
                   static_cast<int32_t>(body.offset[1] + start * out));
    const auto some = [&](int64_t count) {
      b.NewBlock("planes");
      std::vector<std::vector<Vec>> running = sums;
      for (int64_t n = 0; n < count; ++n) {
        for (size_t k = 0; k < sums.size(); ++k) {
          const PlanePiece& piece = body.pieces[k];
          running[k] = values_.Combine(
              b, running[k],
              values_.Take(b,
                           LoadPiece(b, kIn, from, sign * n * in + piece.offset,
                                     piece.rows)));
          StorePiece(b, kOut, to, sign * n * out + piece.offset, piece.rows,
                     values_.Put(b, running[k]));
        }
      }
      for (size_t k = 0; k < sums.size(); ++k) {
        for (int p = 0; p < values_.parts(); ++p) {
          b.Move(sums[k][p], running[k][p]);
        }
      }
      b.SBinaryImmTo(from, Opcode::kSadd, from,
                     static_cast<int32_t>(sign * count * in));
      b.SBinaryImmTo(to, Opcode::kSadd, to,
                     static_cast<int32_t>(sign * count * out));
    };
    if (planes / kPlanes > 1) {
      b.BeginLoop(planes / kPlanes, 1);
      some(kPlanes);
      b.EndLoop();
      if (planes % kPlanes != 0) some(planes % kPlanes);
    } else {
      some(planes);
    }
    if (Carries()) {
      b.NewBlock("carry");
      for (size_t k = 0; k < sums.size(); ++k) {
        for (int p = 0; p < values_.parts(); ++p) {
          StorePiece(b, kCarry, body.at[2], CarryAt(body, k, p),
                     body.pieces[k].rows, sums[k][p]);
        }
      }
    }
    b.EndScope();
  }

  int64_t CarryAt(const PlaneBody& body, size_t piece, int part) const {
    const PlanePiece& p = body.pieces[piece];
    return body.offset[2] + p.offset * values_.parts() +
           part * p.rows * isa::kRowBytes;
  }

  const KernelContext& context_;
  const PoolForm& form_;
  const int axis_;
  const PoolValues values_;
  const int64_t unroll_;
  std::vector<isa::KernelArg> args_;
  PoolBlock block_;
  std::vector<int64_t> planes_;
  int64_t leading_ = 1, carry_pitch_ = 0;
  std::vector<isa::Window> windows_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitCumulative(const KernelContext& context,
                                           const PoolForm& form) {
  absl::StatusOr<isa::Kernel> kernel;
  for (int64_t unroll = 8; unroll > 0; unroll /= 2) {
    kernel = CumulativeEmitter(context, form, unroll).Emit();
    if (!absl::IsResourceExhausted(kernel.status())) break;
  }
  return kernel;
}

}  // namespace ptxla::lowering

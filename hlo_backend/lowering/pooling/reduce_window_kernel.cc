#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/pooling/depthwise_taps.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/pooling/tap_runs.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;

constexpr int kIn = 0, kOut = 1;  // codegen spaces

class ReduceWindowEmitter {
 public:
  ReduceWindowEmitter(const KernelContext& context, const PoolForm& form,
                      int64_t unroll)
      : context_(context),
        form_(form),
        values_(form.op, form.type, context.model),
        unroll_(unroll) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(*form_.instruction));
    if (form_.weighted) {
      ASSIGN_OR_RETURN(weights_, DepthwiseTaps::Of(form_));
      unroll_ = RoundUpTo<int64_t>(unroll_, weights_->Period());
    }
    in_ = 0;
    out_ = static_cast<int>(args_.size()) - 1;
    std::vector<int64_t> extents;
    for (const WindowAxis& a : form_.axes) extents.push_back(a.out);
    return EmitInBlocks(
        context_, form_, extents,
        [this](const PoolBlock& b, PoolCandidate* c) { return Plan(b, c); },
        [this](Tiling* t) {
          t->body = [this](CodeBuilder& b) { return Body(b); };
        });
  }

 private:
  bool InVmem(int arg) const { return args_[arg].space == isa::Space::kVmem; }

  bool Plan(const PoolBlock& block, PoolCandidate* c) {
    block_ = block;
    const auto cut = CutWindows(form_, block);
    if (!cut.has_value()) return false;
    cuts_ = *cut;
    if ((InVmem(in_) && cuts_.has_borders) ||
        ((InVmem(in_) || InVmem(out_)) && cuts_.ragged)) {
      return false;
    }
    Tiling& t = c->tiling;
    t.args = args_;
    t.grid = block.Bounds();
    t.megacore_dim = block.MegacoreDim(false);
    AddPlaneWindow(form_, block, in_, isa::Direction::kIn, cuts_.in, &t);
    AddPlaneWindow(form_, block, out_, isa::Direction::kOut, cuts_.windows, &t);
    t.note = block.ToString();
    for (const isa::KernelArg& arg : args_) {
      if (arg.space == isa::Space::kHbm) t.work.hbm_bytes += arg.bytes;
    }
    t.work.flops =
        form_.instruction->shape().ElementCount() * (form_.Taps() - 1);
    if (weights_.has_value()) {
      weights_->AddWindow(&t);
      t.scratch_bytes = weights_->ScratchBytes();
      t.work.flops =
          2 * form_.instruction->shape().ElementCount() * form_.Taps();
    }
    windows_ = t.windows;
    c->body = BodyCycles();
    return true;
  }

  // By the units that the step needs most.
  int64_t BodyCycles() const {
    const isa::MachineModel& m = context_.model;
    int64_t results =
        CeilOfRatio<int64_t>(block_.units * form_.unit_bytes, isa::kVregBytes);
    int64_t column = 1;
    for (size_t a = 0; a < cuts_.axes.size(); ++a) {
      results *= cuts_.axes[a].outputs;
      if (a + 1 < cuts_.axes.size()) column *= TapsMet(form_.axes[a]);
    }
    // Columns that a result does not share with the one before it.
    const WindowAxis& last = form_.axes.back();
    const int64_t columns = std::min<int64_t>(TapsMet(last), last.stride);
    const int64_t loads =
        columns * column + (form_.weighted ? form_.Taps() : 0);
    const int64_t vectors =
        form_.weighted ? columns * column * values_.take_ops() +
                             2 * form_.Taps() * values_.combine_ops()
                       : loads * (values_.take_ops() + values_.combine_ops()) +
                             (TapsMet(last) - 1) * values_.combine_ops() + 1;
    return results *
           std::max({CeilOfRatio<int64_t>(vectors, m.Slots(isa::Slot::kVector)),
                     CeilOfRatio<int64_t>(loads, m.Slots(isa::Slot::kLoad))});
  }

  int64_t Pitch(const isa::Window& w, int arg, size_t a) const {
    return InVmem(arg) ? w.dims[a].hbm_stride : w.dims[a].vmem_stride;
  }

  absl::Status Body(CodeBuilder& b) {
    const isa::Window &in = windows_[0], &out = windows_[1];
    BorderFill fill;
    fill.space = kIn;
    fill.value = values_.packed_identity();
    fill.axes = cuts_.borders;
    FillBorders(fill, in, 0, &b);
    b.NewBlock("addresses");
    PlanePointer from, to;
    from.base = b.GlobalSca();
    to.base = b.GlobalSca();
    WindowBase(windows_[0], 0, InVmem(in_), from.base, &b);
    WindowBase(windows_[1], 1, InVmem(out_), to.base, &b);
    std::vector<std::vector<PlaneRun>> runs;
    for (size_t a = 0; a < cuts_.axes.size(); ++a) {
      taps_.push_back(TapRunsOf(form_.axes[a], cuts_.axes[a]));
      std::vector<PlaneRun>& plain = runs.emplace_back();
      for (const TapRun& r : taps_.back()) plain.push_back(r.results);
      in_pitch_.push_back(Pitch(in, in_, a));
      // Where its windows begin is in the offsets of a run.
      from.pitch.push_back(AdvanceOf(form_.axes[a]) * in_pitch_.back());
      from.first_pitch.push_back(0);
      out_pitch_.push_back(PeriodOf(form_.axes[a]) * Pitch(out, out_, a));
      to.pitch.push_back(out_pitch_.back());
      to.first_pitch.push_back(Pitch(out, out_, a));
    }
    if (weights_.has_value()) weights_->Spread(&b);
    WalkPlanes(
        runs, {from, to}, PiecesOf(block_.units * form_.unit_bytes), unroll_,
        [&](const PlaneBody& body) {
          weights_.has_value() ? Weighted(body, b) : Window(body, b);
        },
        &b);
    return absl::OkStatus();
  }

  // Results of some neighbouring windows.
  void Window(const PlaneBody& body, CodeBuilder& b) {
    const size_t last = form_.axes.size() - 1;
    // Planes that a result meets through the outer axes.
    std::vector<int64_t> outer = {0};
    for (size_t a = 0; a < last; ++a) {
      const TapRun& run = taps_[a][body.runs[a]];
      outer = Beyond(outer, run, a);
    }
    const TapRun& run = taps_[last][body.runs[last]];
    const int64_t start = Start(run, last);
    const int64_t pitch = in_pitch_[last];
    for (const PlanePiece& piece : body.pieces) {
      std::map<int64_t, std::vector<Vec>> columns;
      for (int64_t c = 0; c < body.copies; ++c) {
        std::vector<Vec> result;
        for (const int64_t tap : run.taps) {
          const int64_t plane = c * AdvanceOf(form_.axes[last]) + tap;
          std::vector<Vec>& column = columns[plane];
          if (column.empty()) {
            column = Column(body, outer, start + plane * pitch, piece, b);
          }
          if (column.empty()) continue;
          result = result.empty() ? column : values_.Combine(b, result, column);
        }
        if (result.empty()) result = values_.Identity(b);
        StorePiece(b, kOut, body.at[1],
                   body.offset[1] + c * out_pitch_[last] + piece.offset,
                   piece.rows, values_.Put(b, result));
      }
    }
  }

  // Planes times the weights of their taps.
  void Weighted(const PlaneBody& body, CodeBuilder& b) {
    const size_t last = form_.axes.size() - 1;
    // Offset and number of each tap.
    struct Tap {
      int64_t offset = 0, number = 0;
    };
    std::vector<Tap> taps = {{}};
    for (size_t a = 0; a <= last; ++a) {
      const TapRun& run = taps_[a][body.runs[a]];
      std::vector<Tap> inner;
      for (const Tap& from : taps) {
        for (size_t t = 0; t < run.taps.size(); ++t) {
          inner.push_back(
              {from.offset + Start(run, a) + run.taps[t] * in_pitch_[a],
               from.number * form_.axes[a].taps + run.numbers[t]});
        }
      }
      taps = std::move(inner);
    }
    for (const PlanePiece& piece : body.pieces) {
      std::map<int64_t, std::vector<Vec>> planes;
      std::map<int64_t, Vec> weights;
      for (int64_t c = 0; c < body.copies; ++c) {
        std::vector<Vec> sum;
        for (const Tap& tap : taps) {
          const int64_t at =
              tap.offset + c * AdvanceOf(form_.axes[last]) * in_pitch_[last];
          std::vector<Vec>& x = planes[at];
          if (x.empty()) {
            x = values_.Take(
                b, LoadPiece(b, kIn, body.at[0],
                             body.offset[0] + at + piece.offset, piece.rows));
          }
          Vec& w = weights[tap.number];
          if (!w.valid()) {
            w = weights_->Load(b, tap.number, piece.offset, piece.rows);
          }
          std::vector<Vec> product;
          product.reserve(x.size());
          for (const Vec part : x) {
            product.push_back(b.Binary(isa::Opcode::kVmulF32, part, w));
          }
          sum = sum.empty() ? product : values_.Combine(b, sum, product);
        }
        if (sum.empty()) sum = values_.Identity(b);
        StorePiece(b, kOut, body.at[1],
                   body.offset[1] + c * out_pitch_[last] + piece.offset,
                   piece.rows, values_.Put(b, sum));
      }
    }
  }

  // The pointers stand at the slot's first plane.
  int64_t Start(const TapRun& run, size_t a) const {
    return run.first_plane * in_pitch_[a];
  }

  std::vector<int64_t> Beyond(const std::vector<int64_t>& outer,
                              const TapRun& run, size_t a) const {
    std::vector<int64_t> result;
    for (const int64_t from : outer) {
      for (const int64_t tap : run.taps) {
        result.push_back(from + Start(run, a) + tap * in_pitch_[a]);
      }
    }
    return result;
  }

  std::vector<Vec> Column(const PlaneBody& body,
                          const std::vector<int64_t>& outer, int64_t offset,
                          const PlanePiece& piece, CodeBuilder& b) {
    std::vector<Vec> column;
    for (const int64_t from : outer) {
      const std::vector<Vec> x = values_.Take(
          b,
          LoadPiece(b, kIn, body.at[0],
                    body.offset[0] + from + offset + piece.offset, piece.rows));
      column = column.empty() ? x : values_.Combine(b, column, x);
    }
    return column;
  }

  const KernelContext& context_;
  const PoolForm& form_;
  const PoolValues values_;
  int64_t unroll_;
  std::optional<DepthwiseTaps> weights_;
  std::vector<isa::KernelArg> args_;
  int in_ = 0, out_ = 0;
  PoolBlock block_;
  WindowCuts cuts_;
  std::vector<isa::Window> windows_;
  std::vector<int64_t> in_pitch_, out_pitch_;
  std::vector<std::vector<TapRun>> taps_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitReduceWindow(const KernelContext& context,
                                             const PoolForm& form) {
  absl::StatusOr<isa::Kernel> kernel;
  for (int64_t unroll = 16; unroll > 0; unroll /= 2) {
    kernel = ReduceWindowEmitter(context, form, unroll).Emit();
    if (!absl::IsResourceExhausted(kernel.status())) break;
  }
  return kernel;
}

}  // namespace ptxla::lowering

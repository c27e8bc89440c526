#include "hlo_backend/lowering/pooling/depthwise_sums.h"

#include <utility>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// The numbers that the taps have among all.
template <class Fn>
void ForEachTap(const std::vector<WindowAxis>& axes, const TapGroup& group,
                Fn fn) {
  std::vector<int64_t> counts;
  for (size_t a = 0; a < axes.size(); ++a) {
    counts.push_back(group.axis(a).count);
  }
  ForEachIndex(counts, [&](const std::vector<int64_t>& at) {
    int64_t number = 0;
    for (size_t a = 0; a < at.size(); ++a) {
      number = number * axes[a].taps + group.axis(a).first + at[a];
    }
    fn(number);
  });
}

}  // namespace

void DepthwiseSums::Add(const std::vector<TapGroup>& groups, int64_t content) {
  // Whole periods, the registers behind them, and part of one.
  const int64_t whole = content / isa::kVregBytes;
  const int64_t periods = whole / period_;
  const auto rest =
      static_cast<int>(content % isa::kVregBytes / isa::kRowBytes);
  for (const TapGroup& group : groups) {
    if (periods > 0) Sum(group, {0, period_, periods});
    if (whole % period_ > 0) {
      Sum(group, {periods * period_, whole % period_, 1});
    }
    if (rest > 0) Sum(group, {whole, 1, 1, rest});
  }
}

// Adds what these registers of all planes give to the group's sums.
void DepthwiseSums::Sum(const TapGroup& group, const Registers& registers) {
  CodeBuilder& b = b_;
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
  const Sca x = moved(planes_.x, begin), dy = moved(planes_.dy, begin);
  const Sca sums = moved(planes_.sums, registers.first % period_ * next);
  const auto step = [&](Sca at, int64_t bytes) {
    b.SBinaryImmTo(at, Opcode::kSadd, at, static_cast<int32_t>(bytes));
  };
  sum_.clear();
  ForEachTap(form_.axes, group,
             [&](int64_t tap) { sum_[tap] = b.GlobalVec(); });
  b.BeginLoop(registers.columns, 1);
  for (const auto& [tap, sum] : sum_) b.ImmTo(sum, 0);
  if (registers.apart > 1) {
    b.BeginScope();
    b.NewBlock("addresses");
    const Sca x2 = moved(x, 0), dy2 = moved(dy, 0);
    b.BeginLoop(registers.apart, 1);
    Walk(group, x2, dy2, registers.rows);
    step(x2, period_ * isa::kVregBytes);
    step(dy2, period_ * isa::kVregBytes);
    b.EndLoop();
    b.EndScope();
  } else {
    Walk(group, x, dy, registers.rows);
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
void DepthwiseSums::Walk(const TapGroup& group, Sca x, Sca dy, int rows) {
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
    from.pitch.push_back(AdvanceOf(form_.axes[a]) * planes_.x_pitch[a]);
    from.first_pitch.push_back(0);
    with.pitch.push_back(PeriodOf(form_.axes[a]) * planes_.dy_pitch[a]);
    with.first_pitch.push_back(planes_.dy_pitch[a]);
  }
  WalkPlanes(
      runs, {from, with}, {PlanePiece{0, rows}}, unroll_,
      [&](const PlaneBody& body) { Products(group, body, rows); }, &b_);
}

// Of some neighbouring planes of the gradient.
void DepthwiseSums::Products(const TapGroup& group, const PlaneBody& body,
                             int rows) {
  CodeBuilder& b = b_;
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
            {from.offset + (run.first_plane + run.taps[t]) * planes_.x_pitch[a],
             from.number * form_.axes[a].taps + run.numbers[t]});
      }
    }
    taps = std::move(inner);
  }
  const size_t last = form_.axes.size() - 1;
  const int64_t advance = AdvanceOf(form_.axes[last]) * planes_.x_pitch[last];
  const int64_t along = PeriodOf(form_.axes[last]) * planes_.dy_pitch[last];
  std::map<int64_t, std::vector<Vec>> planes;
  for (int64_t c = 0; c < body.copies; ++c) {
    const std::vector<Vec> dy = values_.Take(
        b,
        LoadPiece(b, kGradient, body.at[1], body.offset[1] + c * along, rows));
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

}  // namespace ptxla::lowering

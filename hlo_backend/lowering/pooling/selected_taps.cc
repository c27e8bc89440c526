#include "hlo_backend/lowering/pooling/selected_taps.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

SelectedTaps::SelectedTaps(const PoolForm& form, const PoolValues& values,
                           const std::vector<ScatterAxis>& axes,
                           const Pitches& pitches, CodeBuilder* b)
    : form_(form), values_(values), axes_(axes), pitches_(pitches), b_(*b) {
  for (size_t a = 0; a < axes.size(); ++a) {
    window_runs_.push_back(axes[a].WindowRuns(form.axes[a]));
    result_runs_.push_back(axes[a].ResultRuns(form.axes[a]));
  }
}

int64_t SelectedTaps::TapNumber(const std::vector<int64_t>& taps) const {
  int64_t n = 0;
  for (size_t a = 0; a < taps.size(); ++a) {
    n = n * form_.axes[a].taps + taps[a];
  }
  return n;
}

int64_t SelectedTaps::TakenAt(const PlanePiece& piece, int part) const {
  return piece.offset * values_.parts() + part * piece.rows * isa::kRowBytes;
}

void SelectedTaps::Take(const PlaneBody& body) {
  std::vector<int64_t> counts;
  for (size_t a = 0; a < axes_.size(); ++a) {
    counts.push_back(window_runs_[a][body.runs[a]].taps);
  }
  const size_t last = axes_.size() - 1;
  for (int64_t c = 0; c < body.copies; ++c) {
    for (const PlanePiece& piece : body.pieces) {
      std::vector<Vec> most, taken;
      ForEachIndex(counts, [&](std::vector<int64_t> at) {
        int64_t offset = body.offset[0] + piece.offset +
                         c * form_.axes[last].stride * pitches_[kOperand][last];
        for (size_t a = 0; a < at.size(); ++a) {
          at[a] += window_runs_[a][body.runs[a]].first_tap;
          offset += (at[a] + axes_[a].shift) * pitches_[kOperand][a];
        }
        const auto tap = static_cast<uint32_t>(TapNumber(at));
        const std::vector<Vec> x = values_.Take(
            b_, LoadPiece(b_, kOperand, body.at[0], offset, piece.rows));
        if (most.empty()) {
          most = x;
          for (size_t p = 0; p < x.size(); ++p) taken.push_back(b_.Imm(tap));
          return;
        }
        for (size_t p = 0; p < x.size(); ++p) {
          const Mask keep = b_.Compare(Opcode::kVcmpGeF32, most[p], x[p]);
          most[p] = b_.Select(keep, most[p], x[p]);
          taken[p] = b_.SelectImm(keep, taken[p], tap);
        }
      });
      for (int p = 0; p < values_.parts(); ++p) {
        // A window that sees no plane takes none.
        const Vec tap = taken.empty() ? b_.Imm(0xFFFFFFFFu) : taken[p];
        StorePiece(
            b_, kTaken, body.at[1],
            body.offset[1] + c * pitches_[kTaken][last] + TakenAt(piece, p),
            piece.rows, tap);
      }
    }
  }
}

void SelectedTaps::Sum(const PlaneBody& body) {
  std::vector<int64_t> counts;
  for (size_t a = 0; a < axes_.size(); ++a) {
    counts.push_back(result_runs_[a][body.runs[a]].windows);
  }
  const size_t last = axes_.size() - 1;
  for (int64_t c = 0; c < body.copies; ++c) {
    for (const PlanePiece& piece : body.pieces) {
      std::vector<Vec> sum;
      int64_t to = body.offset[2] + piece.offset +
                   c * form_.axes[last].stride * pitches_[kOut][last];
      for (size_t a = 0; a < axes_.size(); ++a) {
        to += result_runs_[a][body.runs[a]].phase * pitches_[kOut][a];
      }
      ForEachIndex(counts, [&](const std::vector<int64_t>& at) {
        int64_t source =
            body.offset[0] + piece.offset + c * pitches_[kSource][last];
        int64_t taken = body.offset[1] + c * pitches_[kTaken][last];
        std::vector<int64_t> taps;
        for (size_t a = 0; a < at.size(); ++a) {
          const ResultRun& run = result_runs_[a][body.runs[a]];
          source += (run.first + at[a]) * pitches_[kSource][a];
          taken += (run.first + at[a]) * pitches_[kTaken][a];
          taps.push_back(run.tap - at[a] * form_.axes[a].stride);
        }
        std::vector<Vec> x = values_.Take(
            b_, LoadPiece(b_, kSource, body.at[0], source, piece.rows));
        for (int p = 0; p < values_.parts(); ++p) {
          const Vec tap = LoadPiece(b_, kTaken, body.at[1],
                                    taken + TakenAt(piece, p), piece.rows);
          const Mask hit = b_.CompareImm(
              Opcode::kVcmpEqS32, tap, static_cast<uint32_t>(TapNumber(taps)));
          x[p] = b_.SelectImm(hit, x[p], values_.identity());
        }
        sum = sum.empty() ? x : values_.Combine(b_, sum, x);
      });
      if (sum.empty()) sum = values_.Identity(b_);
      StorePiece(b_, kOut, body.at[2], to, piece.rows, values_.Put(b_, sum));
    }
  }
}

}  // namespace ptxla::lowering

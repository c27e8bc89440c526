#include "hlo_backend/lowering/pooling/plane_walk.h"

#include <algorithm>
#include <utility>

#include "isa/instruction.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

std::vector<PlanePiece> PiecesOf(int64_t bytes) {
  std::vector<PlanePiece> pieces;
  int64_t at = 0;
  for (int rows = 8; rows > 0; rows /= 2) {
    while (bytes - at >= rows * isa::kRowBytes) {
      pieces.push_back({at, rows});
      at += rows * isa::kRowBytes;
    }
  }
  return pieces;
}

Vec LoadPiece(CodeBuilder& b, int space, Sca base, int64_t offset, int rows) {
  const auto at = static_cast<int32_t>(offset);
  if (rows == 8) return b.Load(space, base, at);
  // Its rows again and again: nothing beyond them is read.
  return b.LoadStrided(space, base, at, 0, rows);
}

void StorePiece(CodeBuilder& b, int space, Sca base, int64_t offset, int rows,
                Vec value) {
  const auto at = static_cast<int32_t>(offset);
  if (rows == 8) {
    b.Store(space, base, at, value);
  } else {
    b.StoreMasked(space, base, at, value, b.Range(0, isa::kLanes, 0, rows));
  }
}

namespace {

class Walker {
 public:
  Walker(const std::vector<std::vector<PlaneRun>>& runs,
         const std::vector<PlanePointer>& pointers,
         const std::vector<PlanePiece>& pieces, int64_t unroll,
         const std::function<void(const PlaneBody&)>& body, CodeBuilder* b)
      : runs_(runs),
        pointers_(pointers),
        pieces_(pieces),
        unroll_(unroll),
        body_(body),
        b_(*b) {}

  void Run() {
    PlaneBody body;
    body.runs.assign(runs_.size(), 0);
    for (const PlanePointer& p : pointers_) body.at.push_back(p.base);
    body.offset.assign(pointers_.size(), 0);
    Axis(body, 0);
  }

 private:
  // Runs of axis `a` from here.
  void Axis(const PlaneBody& from, size_t a) {
    for (size_t r = 0; r < runs_[a].size(); ++r) {
      PlaneBody body = from;
      body.runs[a] = static_cast<int>(r);
      const PlaneRun& run = runs_[a][r];
      for (size_t p = 0; p < pointers_.size(); ++p) {
        const auto& first = pointers_[p].first_pitch;
        const auto& pitch = first.empty() ? pointers_[p].pitch : first;
        body.offset[p] += run.first * pitch[a];
      }
      const bool last = a + 1 == runs_.size();
      const int64_t copies =
          last ? std::min<int64_t>(run.count, Copies()) : int64_t{1};
      body.copies = copies;
      Loop(body, run.count / copies, Pitches(a, copies),
           [&](const PlaneBody& inside) {
             if (last) {
               Content(inside);
             } else {
               Axis(inside, a + 1);
             }
           });
      const int64_t rest = run.count % copies;
      if (rest == 0) continue;
      Shift(&body, a, run.count - rest);
      body.copies = rest;
      Content(body);
    }
  }

  int64_t Copies() const {
    return std::max<int64_t>(
        1, unroll_ / static_cast<int64_t>(std::max<size_t>(1, pieces_.size())));
  }

  std::vector<int64_t> Pitches(size_t a, int64_t copies) const {
    std::vector<int64_t> pitch;
    for (const PlanePointer& p : pointers_)
      pitch.push_back(copies * p.pitch[a]);
    return pitch;
  }

  void Shift(PlaneBody* body, size_t a, int64_t planes) const {
    for (size_t p = 0; p < pointers_.size(); ++p) {
      body->offset[p] += planes * pointers_[p].pitch[a];
    }
  }

  // All pieces of the content.
  void Content(const PlaneBody& body) {
    const auto all = static_cast<int64_t>(pieces_.size());
    if (all * body.copies <= unroll_ || all <= unroll_) {
      Call(body, 0, all);
      return;
    }
    int64_t whole = 0;
    while (whole < all && pieces_[whole].rows == 8) ++whole;
    const int64_t trips = whole / unroll_;
    std::vector<int64_t> pitch;
    for (const PlanePointer& p : pointers_) {
      pitch.push_back(unroll_ * isa::kVregBytes * p.scale);
    }
    Loop(body, trips, pitch,
         [&](const PlaneBody& inside) { Call(inside, 0, unroll_); });
    if (trips * unroll_ < all) Call(body, trips * unroll_, all);
  }

  void Call(PlaneBody body, int64_t first, int64_t end) {
    body.pieces.assign(pieces_.begin() + first, pieces_.begin() + end);
    b_.NewBlock("window");
    body_(body);
  }

  // `trips` times, the pointers moving on by `pitch` each time.
  template <class Fn>
  void Loop(const PlaneBody& from, int64_t trips,
            const std::vector<int64_t>& pitch, Fn fn) {
    if (trips == 0) return;
    if (trips == 1) {
      fn(from);
      return;
    }
    b_.BeginScope();
    b_.NewBlock("addresses");
    PlaneBody inside = from;
    for (size_t p = 0; p < from.at.size(); ++p) {
      inside.at[p] = b_.GlobalSca();
      b_.SBinaryImmTo(inside.at[p], Opcode::kSadd, from.at[p],
                      static_cast<int32_t>(from.offset[p]));
      // It moves: who knows on which bank it is.
      b_.SetBank(inside.at[p], codegen::kUnknownBanks, 0);
      inside.offset[p] = 0;
    }
    b_.BeginLoop(trips, 1);
    fn(inside);
    for (size_t p = 0; p < from.at.size(); ++p) {
      b_.SBinaryImmTo(inside.at[p], Opcode::kSadd, inside.at[p],
                      static_cast<int32_t>(pitch[p]));
    }
    b_.EndLoop();
    b_.NewBlock("addresses");
    b_.EndScope();
  }

  const std::vector<std::vector<PlaneRun>>& runs_;
  const std::vector<PlanePointer>& pointers_;
  const std::vector<PlanePiece>& pieces_;
  const int64_t unroll_;
  const std::function<void(const PlaneBody&)>& body_;
  CodeBuilder& b_;
};

}  // namespace

void WalkPlanes(const std::vector<std::vector<PlaneRun>>& runs,
                const std::vector<PlanePointer>& pointers,
                const std::vector<PlanePiece>& pieces, int64_t unroll,
                const std::function<void(const PlaneBody&)>& body,
                CodeBuilder* b) {
  Walker(runs, pointers, pieces, unroll, body, b).Run();
}

}  // namespace ptxla::lowering

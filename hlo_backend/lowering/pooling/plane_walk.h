// Loops over planes: pointers that move together, and the registers of a
// plane's content, unrolled.
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_PLANE_WALK_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_PLANE_WALK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Part of a plane's content: one register, or (rows < 8) the start of one.
struct PlanePiece {
  int64_t offset = 0;
  int rows = 8;
};
// The pieces that `bytes` are: whole registers, then what is left in parts of
// 4, 2 and 1 rows.
std::vector<PlanePiece> PiecesOf(int64_t bytes);

// Loads and stores of pieces that touch nothing else.
codegen::Vec LoadPiece(codegen::CodeBuilder& b, int space, codegen::Sca base,
                       int64_t offset, int rows);
void StorePiece(codegen::CodeBuilder& b, int space, codegen::Sca base,
                int64_t offset, int rows, codegen::Vec value);

// A run of planes along an axis that the same code handles: `count` steps of
// the walk from plane `first` on; the pointers stand at plane 0.
struct PlaneRun {
  int64_t first = 0, count = 1;
};

struct PlanePointer {
  codegen::Sca base;
  // Per axis: bytes from one plane of the walk to the next.
  std::vector<int64_t> pitch;
  // Bytes for each byte of the content: several registers in scratch for one.
  int64_t scale = 1;
  // Per axis: bytes for each plane before the first of a run. Empty: `pitch`.
  std::vector<int64_t> first_pitch = {};
};

// Where unrolled code finds its planes: pointers plus offsets, `copies` planes
// of the last axis, `pieces` of the content each.
struct PlaneBody {
  std::vector<int> runs;  // of each axis: number of the run
  std::vector<codegen::Sca> at;
  std::vector<int64_t> offset;
  int64_t copies = 1;
  std::vector<PlanePiece> pieces;
};

// Calls `body` inside of loops over all planes of the runs and all pieces of
// their content. About `unroll` registers are handled by one call.
void WalkPlanes(const std::vector<std::vector<PlaneRun>>& runs,
                const std::vector<PlanePointer>& pointers,
                const std::vector<PlanePiece>& pieces, int64_t unroll,
                const std::function<void(const PlaneBody&)>& body,
                codegen::CodeBuilder* b);

// Calls fn with an index per axis, each below its count, the last one fastest.
template <class Fn>
void ForEachIndex(const std::vector<int64_t>& counts, Fn fn) {
  for (const int64_t c : counts) {
    if (c == 0) return;
  }
  std::vector<int64_t> at(counts.size(), 0);
  while (true) {
    fn(at);
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] == counts[a - 1]) at[--a] = 0;
    if (a == 0) return;
  }
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_PLANE_WALK_H_

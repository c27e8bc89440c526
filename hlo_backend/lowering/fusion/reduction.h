// The second half of a reduction: partial results, one register per kept tile,
// lie in scratch; here they become the elements of the result.
//
//   columns reduced      16 tiles of 8 rows are transposed, so that rows become
//                        lanes, and added up: 128 results of one row
//   rows reduced         sublanes are folded by rotations: 128 results
//   both                 folded and summed over lanes: one result
//   only majors reduced  the tile is the result
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCTION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/peer_parts.h"

namespace ptxla::lowering {

// One reduce root.
struct Reduction {
  const hlo::Instruction* reduce = nullptr;
  int root = 0;  // of the expression
  hlo::Opcode op = hlo::Opcode::kAdd;
  hlo::PrimitiveType type = hlo::PrimitiveType::kF32;  // of the values
  bool has_init = false;  // a start value other than the identity
  uint32_t init = 0;
  // Positions of the extrema of that reduction of the kernel; -1: it reduces
  // values of its own.
  int extremum = -1;
  // Of positions: PositionFold::kPlaces in scratch.
  int64_t waiting = -1;
  PhysicalArray result;
  // Window of the result, or (-1) the place of it in scratch, as 32-bit words.
  int window = -1;
  // The kept axis with whose grid steps the window of a dense 1-D result moves;
  // -1: it does not.
  int moves_along = -1;
  // Of whole tiles that move with the grid: bytes from a base tile of an axis
  // to the next, in the window. Empty: they do not.
  std::vector<int64_t> moving;
  // Of planes whose rows are reduced, a plane or a part of one that moves with
  // the grid, but is counted from the first byte of the result: bytes of the
  // steps before, by grid dimension. Empty: it does not.
  struct StepBytes {
    int grid_dim = -1;
    int64_t bytes = 0;  // of 2^shift steps, which have so many planes
    int shift = 0;
    int64_t planes = 1;
  };
  std::vector<StepBytes> before;
  // The window is of a core's part, if several share these steps.
  SharedSteps shared;
  isa::WindowDim part;
  int64_t result_scratch = 0;
  bool dense = true;             // somebody wants the result itself
  int64_t scratch = 0;           // of the partial tiles
  int64_t partial_bytes = 0;     // of all of them
  PeerParts peer;                // where cores share a reduced dimension
  std::vector<int64_t> strides;  // bytes per base tile in scratch, per axis
};

// Unimplemented for what is not one operation with a constant start.
absl::StatusOr<Reduction> DescribeReduction(const hlo::Instruction& fusion,
                                            const Expression& e, int root);

// The same of one of Expression::of_columns, whose result is [columns].
absl::StatusOr<Reduction> DescribeColumns(const hlo::Instruction& fusion,
                                          const Expression& e, int root);

// Bits of the physical iteration dimensions that go.
uint32_t ReducedDims(const Expression& e);

// Where the result, the whole of it, or the step's if it moves, begins; in
// `at`.
void ResultAddress(const Reduction& r, codegen::Sca at,
                   codegen::CodeBuilder& b);

// Turns the partial tiles of the step into the reduced value itself, on all the
// lanes or sublanes that were reduced: what later stages read.
absl::Status ExpandReduction(const Reduction& r, const Geometry& g,
                             int64_t tiles, codegen::CodeBuilder& b);

// Writes the elements that the partial tiles of this step stand for.
// `extremum`: whose positions they are, or null.
absl::Status FinishReduction(const Reduction& r, const Reduction* extremum,
                             const Geometry& g, const NestPlan& plan,
                             const std::vector<int64_t>& extent,
                             codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCTION_H_

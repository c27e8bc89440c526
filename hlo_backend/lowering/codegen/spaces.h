// Memory spaces of generated code that are the same in every kernel.
//
// A space is what a load or store names to say what it cannot touch: those of
// different spaces never meet in memory and may change places. A kernel counts
// the spaces of its windows and scratch from 0 on; what is shared between
// kernels has one of these, behind them. Each is one more than the last, or a
// range on, so that no two are the same.
//
//   Vec sum = b.Load(codegen::kReductionSpace, from, 0);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPACES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPACES_H_

#include <cstdint>
#include <limits>

namespace ptxla::codegen {

// Windows of a kernel, with scratch that it counts on from there.
inline constexpr int kMostOwnSpaces = 1000;

enum FixedSpace : int {
  kRowIndexSpace = kMostOwnSpaces,  // SMEM: numbers of rows
  kRowListSpace,                    // SMEM: a range, lists of a scatter's rows
  // Values per row of a product: a range, on from a formula's first space.
  kRowTableSpace = kRowListSpace + kMostOwnSpaces,
  // Values per row on all lanes: a range, on from their stream's number.
  kExpandedRowSpace = kRowTableSpace + kMostOwnSpaces,
  kReductionSpace = kExpandedRowSpace + kMostOwnSpaces,  // sums of a reduction
  kReducedRowSpace,       // its results where they are rows
  kWaitingPositionSpace,  // of extrema, until all rows have theirs
  kPartialTileSpace,      // sums of a part of a step
  kPeerSpace,             // what came from the other core
  kPackedOperandSpace,    // of a convolution whose taps share tiles
  kTurnedInputSpace,      // of a convolution, rows and lanes exchanged
  kSpillSpace,            // nothing but spilled registers
  kSpacesEnd
};
static_assert(kSpacesEnd <= std::numeric_limits<int16_t>::max());  // VInstr

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPACES_H_

// What is known of the values of an array of integers, from what computes them:
// row numbers that a clamp bounds, counts, sums and multiples of such.
//
//   %n = s32[256] clamp(0, %x, 31999)
//   %r = s32[256] add(multiply(%n, 2), iota())   // of 256
//   RangeOf(*r)   // [0, 64253]
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_INTEGER_RANGE_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_INTEGER_RANGE_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct IntegerRange {
  int64_t least = 0, most = 0;  // both are included

  bool Within(int64_t low, int64_t high) const {
    return low <= least && most <= high;
  }
};

// Seen through bodies of fusions and copies. Nothing known: all values of the
// type; of other than integers of up to 32 bits: all of 64 bits.
IntegerRange RangeOf(const Instruction& x);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_INTEGER_RANGE_H_

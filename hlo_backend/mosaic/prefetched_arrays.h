// What the arrays that a kernel prefetches hold, where nobody says: which
// blocks a table names, how long sequences are, where groups begin. How long
// a kernel takes depends on it, so something is assumed, and the assumption has
// a line that can be shown.
//
//   found by                              taken to hold
//   an index map looks blocks up in it    its blocks in order, evenly repeated
//   it is read at x and at x + 1          offsets: the rows of the longest
//   array
//                                         that is looked up so, else of the
//                                         first result, in equal parts
//   as many entries as there are rows     lengths: as much as a row of the
//   of a table of pages                   table, and the pages, have room for
//   one number that is an index into      the last entry of that one
//   another prefetched array
//
//   std::vector<std::string> lines =
//       FillPrefetched(kernel, facts, &memory);
//   // {"16 lengths of 2048"}
#ifndef PTXLA_HLO_BACKEND_MOSAIC_PREFETCHED_ARRAYS_H_
#define PTXLA_HLO_BACKEND_MOSAIC_PREFETCHED_ARRAYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo_backend/mosaic/pallas_kernel.h"
#include "hlo_backend/mosaic/scalar_memory.h"

namespace ptxla::mosaic {

struct CallFacts {
  // Values of prefetched arrays that are constants of the program, by the
  // array's number; empty: not known.
  std::vector<std::vector<int64_t>> constants;
  // Dimensions of the array behind each window; empty: not known.
  std::vector<std::vector<int64_t>> arrays;
  size_t results = 1;  // the last windows are results
};

std::vector<std::string> FillPrefetched(const PallasKernel& kernel,
                                        const CallFacts& facts,
                                        ScalarMemory* memory);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_PREFETCHED_ARRAYS_H_

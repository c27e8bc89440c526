// Bytes of a block of an array as they lie in HBM, and how many of them lie in
// a row. Tiles are whole: 128 lanes, and 8 rows of words, or what the array has
// if that is less.
//
//   BytesOfBlock(16, {512, 128}, {2048, 2048})   // 128 KiB, runs of 4 KiB
//
// `array` may be empty: the block is the whole of it.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_BYTES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_BYTES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace ptxla::lowering {

struct BlockBytes {
  int64_t bytes = 0;
  int64_t run = 0;
};

BlockBytes BytesOfBlock(int bits, absl::Span<const int64_t> block,
                        absl::Span<const int64_t> array);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_BYTES_H_

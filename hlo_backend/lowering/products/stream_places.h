// Places in a product's stream: what an MXU works on, a register of weights, a
// result.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_PLACES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_PLACES_H_

#include <cstdint>

namespace ptxla::lowering::stream {

// What one MXU does in a visit.
struct Lane {
  bool active = false;
  int64_t batch = 0, col = 0, row = 0;  // first of the visit
  int weights = 0;  // lanes with the same number share weight registers
  int rows = 0;     // lanes with the same number share LHS registers
};

// A register of rows of K (plain) or of N (transposed) of the weights that
// some lanes share.
struct Push {
  Lane lane;
  int64_t k = 0;
  int row = 0;
  int block = 1;
  bool two_columns = false;
};

struct Position {
  bool wanted = true;  // false: beyond the block, popped and dropped
  int64_t batch, row, col;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_PLACES_H_

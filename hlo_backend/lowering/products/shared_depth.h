// The end of a product whose K two cores share: the sums of both, which lie in
// scratch, are added up and handed to the epilogue.
//
//   parts.Send(b);                          // in the core's last step
//   FinishSharedSums({parts, sums, batch, rows, columns}, pace, epilogue, b);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_DEPTH_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_DEPTH_H_

#include <cstdint>
#include <functional>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/peer_parts.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

struct SharedSums {
  const PeerParts& parts;
  const BlockPlace& sums;  // [batch, rows, columns], where `parts` lie
  int64_t batch = 1, rows = 16, columns = 128;
  bool integers = false;  // the sums are s32, not f32
  // Where no step adds anything to 16 rows, so that their sums are not in
  // memory; may be null.
  std::function<bool(int64_t batch, int64_t row)> is_empty;
};

// Waits for the other core's part. Appends blocks to `b`, which hold as many
// epilogues as `pace` lets run at once.
void FinishSharedSums(const SharedSums& shared, const EpiloguePace& pace,
                      Epilogue* epilogue, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_DEPTH_H_

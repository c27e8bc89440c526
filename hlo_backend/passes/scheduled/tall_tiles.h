// Tiles of 16 rows as two of 8: bf16 `T(16,128)(2,1)`, a register each, which
// libtpu gives on tpu7x to values that products hand on. Two tiles of 8 rows
// that lie one above the other fill a register in as many bundles, so kernels
// here know only those; what is copied to such tiles inside of a fusion is
// nothing then.
//
//   bf16[8192,2048]{1,0:T(16,128)(2,1)}  ->  {1,0:T(8,128)(2,1)}
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TALL_TILES_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TALL_TILES_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Of all values, or of none if one of the entry's arrays lies so. True if one
// changed.
bool HalveTallTiles(Module* module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TALL_TILES_H_

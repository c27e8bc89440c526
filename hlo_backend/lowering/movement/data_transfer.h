// One transfer whose place data decides: what slices and updates of planes by
// indices (start_index.h) share.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_DATA_TRANSFER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_DATA_TRANSFER_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Starts the kernel's only descriptor and waits for its `bytes`. Registers hold
// where its sides begin, in units of 2^arg_shift bytes; an invalid one is the
// first byte.
void TransferOnce(codegen::CodeBuilder& b, codegen::Sca source,
                  codegen::Sca target, int64_t bytes);

// Instructions of the open block that wait for `bytes` of the first semaphore.
void AwaitBytes(codegen::CodeBuilder& b, int64_t bytes);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_DATA_TRANSFER_H_

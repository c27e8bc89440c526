// Masks that are made again of the array behind them, where their readers read
// that array anyway, although an array of predicates is smaller.
//
//   %mask = pred[8192,4096] compare(%x, %zero), direction=GT
//   %y = bf16[8192,4096] select(%mask, %x, %zero)
//   IsReadWith(nodes, *mask, *x)  // true: %y reads %x, and compares it itself
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_MASK_READERS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_MASK_READERS_H_

#include "hlo_backend/passes/fusion/fusion_nodes.h"

namespace ptxla::hlo {

// A mask whose readers, or what is made of them in the same loop, read `source`
// anyway: made of it there again, neither stored nor loaded. So does the TPU
// compiler with the gradient of an activation behind a normalisation.
bool IsReadWith(const FusionNodes& nodes, const Instruction& mask,
                const Instruction& source);

// A mask of an array that lives as long for a product and the gradient of its
// weights, and that takes no longer to load than the mask to store and load.
bool IsKeptForProducts(const FusionNodes& nodes, const Instruction& mask,
                       const Instruction& source);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_MASK_READERS_H_

// Operands of a fusion that a schedule has turned into a layout that is mostly
// padding: images with a small batch in the lanes and three colours in the
// sublanes, 51 MB where 2.75 are enough. A TPU compiler's kernel works on such
// tiles; one that is compiled anew orders dimensions its own way, and reads
// what was turned.
//
//   %c = bf16[8,3,224,224]{0,1,3,2} copy(bf16[8,3,224,224]{3,2,1,0} %x)
//   fusion(%c), calls={ p = parameter(0), ... }
//   ==> fusion(%x), calls={ p = parameter(0), q = copy(p), ... }
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PADDED_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PADDED_OPERANDS_H_

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool ReadsPadded(const Instruction& fusion, int generation);

// `unread` gets the ids of what the fusion read before.
void ReadUnpadded(Instruction* fusion, int generation,
                  absl::flat_hash_set<int>* unread);

// Those of `ids` in a scheduled computation that nobody reads, and what only
// they have read.
void RemoveUnread(Computation* c, absl::flat_hash_set<int> ids);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PADDED_OPERANDS_H_

// Takes the batch dimension of a dot apart where that is what its only reader
// does: bitcast(dot(x, y)) becomes dot(bitcast(x), bitcast(y)).
//
// Frameworks multiply [batch * heads, rows, depth] and go on in [batch, heads,
// rows, columns]. With the dot in the shape of what follows, that can join its
// kernel. Bitcasts move nothing. Not of a result of the program.
//
// Rows likewise: queries of [batch, groups, heads of a group, rows, depth] are
// multiplied as [batch, groups, heads * rows, depth] with the keys that a group
// shares. Where their scores are reduced by rows (a softmax), heads are
// dimensions of the dot again, and so they are of the product that reads those.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SPLIT_DOT_BATCH_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SPLIT_DOT_BATCH_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool SplitDotBatches(Computation* computation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SPLIT_DOT_BATCH_H_

// Reduces along the rows of a product that stays in memory (the maximum of
// logits, of scores too long for VMEM): made behind the product, where its rows
// come by, instead of in a pass over what has been stored.
//
// Elementwise work between the product and the reduces is done there. What is
// stored is the last value of it that all others go on from (masked scores), in
// the type of the product, or in f32 if that fits VMEM; who else needs the rest
// does it again. What reads the reduces (an exponential, its sum) is a kernel
// of its own: rows need not fit into VMEM. Part of `row-fusion`, for products
// that it leaves.
//
// Reduces over the rows of each member of a batch too (scores with their keys
// in the rows, keys_first.h): values per column, made as tiles are finished.
// What only such reduces read may be made with other arrays of the product's
// size, and with values per column (a softmax's gradient sums dP * P, P being
// made of the scores).
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_STATISTICS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_STATISTICS_H_

#include "chips/chip_spec.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Of scores that the program writes keys first (score_order.h) and that do not
// fit VMEM only the maxima are made with the product, as in the TPU compiler:
// exponentials, their sums and the next product read the scores from HBM, in
// f32.
bool OnlyStatistics(const Instruction& dot, const chips::ChipSpec& chip);

bool FuseRowStatistics(Computation* computation, const PassContext& context);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_STATISTICS_H_

// Values for each column, packed, that many rows of a step read: unpacked once,
// into scratch, instead of for every row.
//
//   bf16[8192,4096] x * broadcast(bf16[4096] g), 32 rows of tiles in a step:
//   each row would shift 32 registers of g; they are shifted once for all
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_COLUMNS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_COLUMNS_H_

#include "hlo_backend/lowering/fusion/geometry.h"
#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

// Whether the stream's values are worth that: they do not stay in registers,
// and are read by several bodies one below the other. `registers`: of the core.
bool WorthWidening(const Geometry& g, const NestPlan& plan, const Stream& s,
                   int registers);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_COLUMNS_H_

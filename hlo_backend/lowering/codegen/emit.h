// Code with virtual registers to isa::Code: schedules each block, gives its
// locals registers, and writes bundles; idle cycles become `nop n`.
//
// A block that does not fit the registers is spilled where its code allows it
// (spill.h): scheduled with several numbers of registers, the shortest wins.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/block_cache.h"
#include "hlo_backend/lowering/codegen/spill.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/code.h"

namespace ptxla::codegen {

// `use` (may be null): what spilling took is added to it.
absl::StatusOr<isa::Code> EmitCode(const Code& code, BlockCache* cache,
                                   SpillUse* use = nullptr);

// How many indices a core walks along each dimension of the grid, and along
// isa::kCoreShare; at least 1.
using IndexCounts = std::array<int64_t, isa::kCoreShare + 1>;

// Cycles of the code without DMA stalls in an average step, where each When is
// taken in its share of the steps: what the tile search needs before bundles
// are wanted.
absl::StatusOr<int64_t> CyclesOf(const Code& code, BlockCache* cache,
                                 const IndexCounts& indices,
                                 SpillUse* use = nullptr);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_

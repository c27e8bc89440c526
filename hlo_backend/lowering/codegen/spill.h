// Values that do not fit the registers go to memory: a scratch area of VMEM, a
// register of 4096 bytes per slot.
//
// Two kinds of values live there:
//   globals beyond the registers   VRegister::slot; a block that uses one loads
//                                  it first and stores it back at its end
//   locals of a crowded block      the value whose next use is furthest away is
//                                  stored and loaded again before that use
//                                  (Belady); what is cheap to make again
//                                  (constants, splats, operands in memory, one
//                                  or two conversions of such) is recomputed
//                                  instead
// Masks go the same way, as words of ones and zeros.
//
// Spill code is ordinary code: vst and vld in bundles, ordered by their memory
// space, which nothing else uses.
//
//   SpilledBlock s = WithMemoryGlobals(block, code);
//   ASSIGN_OR_RETURN(s, SpillLocals(std::move(s), code.spill, limits));
//   ScheduleBlock(s.block.instrs, s.registers, ...)
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/vcode.h"

namespace ptxla::codegen {

// What spilling takes: slots of the area, and instructions in the text.
struct SpillUse {
  int slots = 0;
  int64_t spills = 0;      // stores
  int64_t fills = 0;       // loads
  int64_t recomputed = 0;  // instructions repeated instead of a fill

  void Add(const SpillUse& o) {
    slots = slots > o.slots ? slots : o.slots;
    spills += o.spills;
    fills += o.fills;
    recomputed += o.recomputed;
  }
};

struct SpilledBlock {
  VNode block;
  std::vector<VRegister> registers;  // of the code, then those of spill code
  SpillUse use;
  int32_t base = kNone;  // scalar register with the area's address
};

// True if the block reads or writes a global that has no register.
bool UsesMemoryGlobals(const VNode& block, const Code& code);

// The block with loads and stores for them.
SpilledBlock WithMemoryGlobals(const VNode& block, const Code& code);

// The block such that, in the order in which it is written, at most `limit`
// locals of each class are alive. ResourceExhausted: one instruction alone
// needs more, or scalars and predicates, which are not spilled, do.
absl::StatusOr<SpilledBlock> SpillLocals(
    SpilledBlock s, const SpillArea& area,
    const std::array<int, isa::kNumRegClasses>& limit);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_H_

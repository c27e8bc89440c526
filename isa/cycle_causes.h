// What each cycle of code is for, seen from the unit that does most of the
// kernel's work: while that unit is taken it is work; every other cycle has
// one cause. The causes of a piece of code sum to its cycles (isa/timing.h).
//
//   const MainUnit main = MainUnitOf(ProfileCode(kernel.step, m), m);
//   CodeAccount a = AccountOf(kernel.step, m, main, flags);
//   a.total[CycleCause::kDrain]
//
// Blocks drain before the next one begins, so a block's first and last use of
// the unit part its idle cycles into fill, gaps and drain.
#ifndef PTXLA_ISA_CYCLE_CAUSES_H_
#define PTXLA_ISA_CYCLE_CAUSES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/code.h"
#include "isa/machine_model.h"
#include "isa/timing.h"

namespace ptxla::isa {

// An execution unit, or a slot where `unit` is kNone.
struct MainUnit {
  ExecUnit unit = ExecUnit::kNone;
  Slot slot = Slot::kVector;

  bool Uses(const Instr& instr) const;
  // Cycles of it that the profile takes, over all units or slots of the core.
  int64_t Busy(const Profile& p) const;
  int Ways(const MachineModel& m) const;
  std::string Name() const;  // "MXU", "vector ALU", "load slots"
};

// The busiest of MXU, vector ALUs, EUP, XLU, loads and stores. The MXU is also
// that of code whose weights take longest to push.
MainUnit MainUnitOf(const Profile& profile, const MachineModel& machine);

enum class CycleCause : uint8_t {
  kWork,     // the unit is taken
  kWeights,  // idle while weights are pushed into the MXU
  kFill,     // idle before the block's first use of it
  kDrain,    // idle after the last: results on their way to the store
  kIssue,    // idle between uses, another slot of the bundle is full
  kResults,  // idle between uses, nothing is full: operands are on their way
  kOther,    // blocks that do not use it: conversions, transposes, epilogues
  kControl,  // scalar code, DMA starts, loop branches, padding to the step's
             // fixed cost
};
inline constexpr int kNumCauses = 8;

struct CycleCauses {
  std::array<int64_t, kNumCauses> cycles{};
  std::array<int64_t, kNumSlots> issue{};  // kIssue by the slot that is full

  int64_t& operator[](CycleCause c) { return cycles[static_cast<int>(c)]; }
  int64_t operator[](CycleCause c) const { return cycles[static_cast<int>(c)]; }
  int64_t Total() const;
  void Add(const CycleCauses& o, int64_t times);
};

// A block of the code that runs, in its order.
struct CodePart {
  const Block* block = nullptr;  // of the code
  int depth = 0;                 // loops around it
  int64_t times = 1;             // runs in one pass over the code
  int64_t trips = 1;             // of the innermost loop around it
  CycleCauses once;
};

struct CodeAccount {
  CycleCauses total;
  std::vector<CodePart> parts;  // blocks; loop branches are in the total only
};

// For a step with these first/last flags (isa/timing.h).
CodeAccount AccountOf(const Code& code, const MachineModel& machine,
                      const MainUnit& main, uint32_t flags = 0);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_CYCLE_CAUSES_H_

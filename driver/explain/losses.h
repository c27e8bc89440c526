// The account of a kernel's cycles as a list of losses that people read: each
// with a name that stays the same between versions, its cycles, and a sentence.
// They sum to `cycles`.
//
//   std::vector<record::Loss> losses = LossesOf(account, op);
#ifndef PTXLA_DRIVER_EXPLAIN_LOSSES_H_
#define PTXLA_DRIVER_EXPLAIN_LOSSES_H_

#include <cstdint>
#include <vector>

#include "record/explanation.pb.h"
#include "sim/core/kernel_account.h"

namespace ptxla::driver {

// What an account does not know.
struct OpWork {
  int64_t cycles = 0;  // of the op in the program, copies beside it included
  // Cycles that the main unit, with all its ways, needs for what was asked, of
  // the core that the account is about: without padding. -1: not known.
  int64_t useful_cycles = -1;
};

// Largest first, "useful" before all.
std::vector<record::Loss> LossesOf(const sim::KernelAccount& account,
                                   const isa::MachineModel& machine,
                                   const OpWork& work);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_LOSSES_H_

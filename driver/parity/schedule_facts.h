// What a scheduled instruction is, in the form in which compilers are compared.
//
//   KernelFacts k = FactsOf(*fusion);   // name, root, operands, outputs
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_FACTS_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_FACTS_H_

#include <cstdint>
#include <string>

#include "driver/parity/kernel_facts.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::driver {

// The digit of HLO's memory space.
char SpaceOf(const hlo::Shape& shape);

// Steps, bundles and costs are not set.
KernelFacts FactsOf(const hlo::Instruction& i);

// The root's opcode as KernelFacts has it, but of what a bitcast is a view of.
std::string WorkOf(const hlo::Instruction& i);

// "estimated_cycles" of its backend configuration; 0: there is none.
int64_t EstimatedCycles(const hlo::Instruction& i);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_FACTS_H_

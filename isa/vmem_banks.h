// VMEM banks that a vector load touches: rows of 512 bytes are spread over the
// banks in turn. Two loads of one bundle must not share a bank.
//
//   (LoadBanks(a.op, 0, 0, 0, 32) & LoadBanks(b.op, 16384, 0, 0, 32)) != 0
#ifndef PTXLA_ISA_VMEM_BANKS_H_
#define PTXLA_ISA_VMEM_BANKS_H_

#include <cstdint>

#include "isa/instruction.h"

namespace ptxla::isa {

// One bit per bank (at most 64). `address` is known at least modulo banks * 512
// bytes; `stride` and `group` are those of vld.str, ignored for other loads.
uint64_t LoadBanks(Opcode op, int64_t address, int64_t stride, int group,
                   int banks);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VMEM_BANKS_H_

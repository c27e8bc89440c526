// VMEM banks that a vector load touches: rows of 512 bytes are spread over the
// banks in turn. Two loads of one bundle must not share a bank.
//
//   (LoadBanks(a.op, 0, 0, 0, 32) & LoadBanks(b.op, 16384, 0, 0, 32)) != 0
#ifndef PTXLA_ISA_VMEM_BANKS_H_
#define PTXLA_ISA_VMEM_BANKS_H_

#include <cstdint>
#include <optional>

#include "isa/kernel.h"

namespace ptxla::isa {

// One bit per bank (at most 64). `address` is known at least modulo banks * 512
// bytes; `stride` and `group` are those of vld.str, ignored for other loads.
uint64_t LoadBanks(Opcode op, int64_t address, int64_t stride, int group,
                   int banks);

// What `swin` of a window that is not copied gives modulo `cycle` bytes, if
// that is the same in every step. VMEM arguments begin at a multiple of
// kVmemAlignment (isa/program.h).
std::optional<int64_t> ResidentBankOffset(const Window& window, int64_t cycle);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VMEM_BANKS_H_

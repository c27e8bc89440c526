// Canonical hashes of structure: names, ids, metadata and source positions do
// not count; opcodes, shapes, attributes, operands, callees and the order of
// parameters do. Stable over runs and machines.
//
// Used to deduplicate kernels and to catch a pass that changed a module and
// said that it did not.
#ifndef PTXLA_HLO_BACKEND_IR_FINGERPRINT_H_
#define PTXLA_HLO_BACKEND_IR_FINGERPRINT_H_

#include <cstdint>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct FingerprintOptions {
  bool layouts = true;         // layouts and memory spaces count
  bool shardings = true;       // so do shardings
  bool backend_config = true;  // and backend configs
  bool order = false;          // the order of instructions counts (schedules)
};

uint64_t FingerprintOf(const Computation& computation,
                       const FingerprintOptions& options = {});
// The entry with all that it reaches, aliasing and the header's numbers. Dead
// instructions count too.
uint64_t FingerprintOf(const Module& module,
                       const FingerprintOptions& options = {});
// One instruction as a kernel: opcode, operand shapes with layouts, result
// shape, attributes, body, values of operands that are constants of one number;
// which operands are the same array; whether it writes a loop's state where it
// reads it; not who its operands are.
uint64_t KernelFingerprint(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_FINGERPRINT_H_

// Bits of a 32-bit word, as immediates of vector instructions.
//
//   b->BinaryImm(Opcode::kVand, x, ~kSignBit)    // |x| of an f32
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_WORD_BITS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_WORD_BITS_H_

#include <cstdint>

namespace ptxla::codegen {

inline constexpr uint32_t kAllBits = 0xFFFFFFFFu, kSignBit = 0x80000000u;

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_WORD_BITS_H_

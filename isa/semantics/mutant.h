// Wrong semantics, one opcode at a time, for tests that demand that a change of
// any opcode is noticed.
//
//   SemanticsTable table = MutantTable(Opcode::kVaddF32);
//   Core core(machine, {&table});     // every sum has the wrong sign
#ifndef PTXLA_ISA_SEMANTICS_MUTANT_H_
#define PTXLA_ISA_SEMANTICS_MUTANT_H_

#include "isa/semantics/table.h"

namespace ptxla::isa {

// The real table but for `op`: what it writes or pushes is wrong. In each word
// of a vector the sign bits of the word, its halves and its bytes and the
// lowest bit are flipped; masks, scalars and predicates are inverted. An opcode
// that only changes other state (a store, a weight push, a DMA) does nothing at
// all.
SemanticsTable MutantTable(Opcode op);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_SEMANTICS_MUTANT_H_

// A loop's state, a tuple, as those see it who take it apart.
//
//   for (Instruction* value : ElementsOf(*body->parameter(0), 2)) ...
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ELEMENTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ELEMENTS_H_

#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Nobody has the tuple whole: its users are get-tuple-elements.
bool IsOnlyTakenApart(const Instruction& tuple);

// The get-tuple-elements of element k.
std::vector<Instruction*> ElementsOf(const Instruction& tuple, int k);

// Its state is put together for it alone and only taken apart, and nobody else
// runs its body and condition: its elements may become others.
bool IsPlainLoop(const Instruction& loop);

// Those of a computation.
std::vector<Instruction*> PlainLoopsIn(const Computation& c);

// The one loop whose body the computation is; null: none, or several.
const Instruction* LoopOf(const Computation& body);

// The body or condition `c` of the loop, to change: a copy if others run it.
Computation* OwnCalled(Instruction* loop, Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ELEMENTS_H_

// A loop over a counter and some arrays, as passes write it.
//
//   CounterLoop(b, "factor", {matrix}, 16,
//               [](Builder& b, Instruction* step, auto state) { ... });
//   // (s32[] step, f32[...] matrix), step = 0 ... 15
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTER_LOOP_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTER_LOOP_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// The while instruction; element 0 of its state is the counter. `body` returns
// the next arrays of the ones that it gets. `name` is that of its computations.
Instruction* CounterLoop(
    Builder& b, absl::string_view name, const std::vector<Instruction*>& start,
    int64_t trips,
    const std::function<std::vector<Instruction*>(
        Builder&, Instruction* step, const std::vector<Instruction*>&)>& body);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTER_LOOP_H_

// Software pipelining of streams through a FIFO: matmuls, lane reductions,
// transposes, whose results come 80 to 200 cycles after their push.
//
// Iteration i is split into `produce` (loads and pushes) and `consume` (pops,
// arithmetic, stores). No register goes from one to the other; the FIFO carries
// the results. So the steady loop runs produce(i + d) and consume(i) in one
// block, with d just large enough that every pop finds its result:
//
//     prologue  d times produce        loop n - d times: produce | consume
//     epilogue  d times consume
//
//   StreamBody body;
//   body.produce = [&](CodeBuilder& b, Sca i, int32_t ahead) {
//     b.PushXlane(b.Load(0, b.SAdd(in, i), ahead), unit);
//   };
//   body.consume = [&](CodeBuilder& b, Sca i, int32_t ahead) { ... };
//   RETURN_IF_ERROR(EmitStream(&b, /*trips=*/n, /*increment=*/4096, body));
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_STREAM_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_STREAM_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::codegen {

struct StreamBody {
  // `counter` is a loop counter in units of the stream's increment; the
  // iteration to work on is counter + `ahead`, where `ahead` is to be added to
  // immediate offsets.
  using Part = std::function<void(CodeBuilder& b, Sca counter, int32_t ahead)>;
  Part produce;
  Part consume;
};

// Both parts push (pop) the same number of results in every iteration, on the
// units and in the order that they choose. ResourceExhausted when a block does
// not fit the registers, or d iterations do not fit a FIFO.
absl::Status EmitStream(CodeBuilder* b, int64_t trips, int32_t increment,
                        const StreamBody& body);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_STREAM_H_

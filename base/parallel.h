// The same work on many independent things, on the machine's cores.
//
//   std::vector<Result> results(n);
//   ParallelFor(n, ParallelWorkers(n), [&](int worker, int i) {
//     results[i] = Make(i, &caches[worker]);
//   });
//
// Which worker gets what, and when, is not known: results must not depend on
// it. Whoever collects them does so in the order of i.
#ifndef PTXLA_BASE_PARALLEL_H_
#define PTXLA_BASE_PARALLEL_H_

#include "absl/functional/function_ref.h"

namespace ptxla {

// Workers that n things are worth: at most the machine's cores, and few.
int ParallelWorkers(int n);

// Calls work(worker, i) once for each i in [0, n); 0 <= worker < workers. With
// one worker everything runs in the caller's thread, in order.
void ParallelFor(int n, int workers,
                 absl::FunctionRef<void(int worker, int i)> work);

}  // namespace ptxla

#endif  // PTXLA_BASE_PARALLEL_H_

// Temporaries in the memory of outputs that are not written yet, as XLA's
// buffer assignment places them: from the largest on, each in the smallest
// output that holds it, is of its space, is first written after its last use,
// and holds nothing else at that time. One temporary at a time, at the start.
//
//   OutputSharing sharing;
//   sharing.AddOutput(/*id=*/3, /*colour=*/0, Bytes(1 << 20), /*written=*/90);
//   sharing.Finish();
//   sharing.Take(/*colour=*/0, Bytes(4096), {10, 25})   // 3; -1: nowhere
#ifndef PTXLA_MEMORY_MODEL_OUTPUT_SHARING_H_
#define PTXLA_MEMORY_MODEL_OUTPUT_SHARING_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"
#include "memory_model/interval_allocator.h"

namespace ptxla::memory {

class OutputSharing {
 public:
  // `written`: the first position that writes it.
  void AddOutput(int id, int colour, Bytes bytes, int32_t written);
  // All outputs are known.
  void Finish();
  // The output that the temporary lies in, which it occupies for its life.
  int Take(int colour, Bytes bytes, Life life);

 private:
  struct Output {
    int id = 0, colour = 0;
    int64_t bytes = 0;
    int32_t written = 0;
    std::map<int32_t, int32_t> taken;  // last -> first position
  };
  static bool IsFree(const Output& output, Life life);

  std::vector<Output> outputs_;  // smallest first
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_OUTPUT_SHARING_H_

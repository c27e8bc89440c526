// Which residents leave a VMEM that is too small for all of them: those that
// save the least HBM traffic per byte and step that they occupy.
//
//   LeastWorth({{0, 9, 4096, 1}, {2, 4, 4096, 3}}, /*room=*/4096)   // {0}
#ifndef PTXLA_HLO_BACKEND_COMPILER_VMEM_ROOM_H_
#define PTXLA_HLO_BACKEND_COMPILER_VMEM_ROOM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::hlo {

struct VmemResident {
  int32_t first = 0, last = 0;  // positions in the schedule, both included
  int64_t bytes = 0;
  int64_t uses = 0;  // by whoever reads or writes the whole of it
};

// Indices, ascending, of those that find more than `room` bytes taken, at some
// time of their lives, by others of more worth and by what `taken` says of each
// position (none: nothing). Holes are not looked at.
std::vector<int> LeastWorth(absl::Span<const VmemResident> residents,
                            int64_t room, absl::Span<const int64_t> taken = {});

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_VMEM_ROOM_H_

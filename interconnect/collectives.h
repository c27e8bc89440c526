// What a collective costs on a slice when it has the links to itself.
//
// The algorithm is the one that the TPU compiler picks for the slice:
//   - groups that are whole axes of the slice: n-D rings, one class per axis
//     (AllGatherTorus); on a wrapless box with a side of 2, such as the 2x4 of
//     v5e-8, one ring round the mesh, used in both directions;
//   - any other groups: a ring in group order over dimension-ordered routes,
//     all groups at once, paying for links that are shared;
//   - several slices: reduce-scatter inside, ring between slices over DCN,
//     all-gather inside.
//
//   ASSIGN_OR_RETURN(CollectiveCost c,
//       CostOf({Kind::kAllReduce, Bytes(640 << 20)}, slice.topology,
//              slice.chip));
#ifndef PTXLA_INTERCONNECT_COLLECTIVES_H_
#define PTXLA_INTERCONNECT_COLLECTIVES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "chips/topology.h"

namespace ptxla::ici {

enum class Kind {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
};
const char* KindName(Kind kind);  // "all-reduce"

struct Collective {
  Kind kind = Kind::kAllReduce;
  // all-reduce, all-gather, reduce-scatter: the whole array of one group (the
  // operand, the result, the operand). all-to-all, permute: bytes per device.
  Bytes bytes;
  // Devices (partitions) of each group; empty: all devices in one group.
  std::vector<std::vector<int64_t>> groups = {};
  // kPermute: source and target devices.
  std::vector<std::pair<int64_t, int64_t>> pairs = {};
};

struct CollectiveCost {
  Picoseconds time;      // start-up, hops and bytes
  Picoseconds dcn_time;  // part of `time` that is spent between slices
  Bytes bytes_per_link;  // on the busiest one-way link
  Bytes hbm_bytes;       // read and written on each device
  int phases = 0;
  int group_size = 1;
  std::string algorithm;  // "ring of 8, both ways"
};

// InvalidArgument: a device that the slice does not have, or uneven groups.
absl::StatusOr<CollectiveCost> CostOf(const Collective& collective,
                                      const chips::Topology& topology,
                                      const chips::ChipSpec& chip);

}  // namespace ptxla::ici

#endif  // PTXLA_INTERCONNECT_COLLECTIVES_H_

#include "interconnect/collectives.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "interconnect/closed_forms.h"
#include "interconnect/device_groups.h"
#include "interconnect/routing.h"

namespace ptxla::ici {
namespace {

Picoseconds Round(double seconds) {
  return Picoseconds(std::ceil(seconds * kPicosecondsPerSecond));
}

// A box without wraps that has a side of 2 has a ring round all its chips.
bool HasRingRound(const std::vector<Axis>& axes) {
  return axes.size() == 2 && !axes[0].wrap && !axes[1].wrap &&
         (axes[0].size == 2 || axes[1].size == 2);
}

std::string Sizes(const std::vector<Axis>& axes) {
  return absl::StrJoin(axes, "x", [](std::string* out, const Axis& axis) {
    absl::StrAppend(out, axis.size);
  });
}

// `seconds`, but not less than what the collective moves in HBM takes.
Picoseconds TimeOf(double seconds, Bytes hbm_bytes,
                   const chips::ChipSpec& chip) {
  return Round(std::max(seconds, static_cast<double>(hbm_bytes.count()) /
                                     chip.hbm_bandwidth_per_device().count()));
}

struct Gather {  // one all-gather or reduce-scatter of V bytes in a slice
  double seconds = 0;
  double link_bytes = 0;
  int phases = 0;
  std::string algorithm;
};

Gather GatherInSlice(const GroupShape& shape, const chips::Topology& topology,
                     double V, Link link) {
  const int n = static_cast<int>(shape.chips[0].size());
  if (n <= 1) return {0, 0, 0, "one chip"};
  if (shape.is_box && HasRingRound(shape.axes)) {
    return {AllGatherAxis({n, true}, V, link), (n - 1.0) / n * V / 2, 1,
            absl::StrCat("ring of ", n, ", both ways")};
  }
  if (shape.is_box) {
    const int k = static_cast<int>(shape.axes.size());
    const bool rings = std::any_of(shape.axes.begin(), shape.axes.end(),
                                   [](const Axis& axis) { return axis.wrap; });
    double link_bytes = 0;
    for (const Axis& a : shape.axes) {
      link_bytes = std::max(link_bytes,
                            (a.size - 1.0) / a.size * V / k / (a.wrap ? 2 : 1));
    }
    return {AllGatherTorus(shape.axes, V, link), link_bytes, k,
            k == 1 ? absl::StrCat(rings ? "ring of " : "line of ", n)
                   : absl::StrCat(Sizes(shape.axes), rings ? " torus" : " mesh",
                                  ", ", k, " classes")};
  }
  // A ring in group order: every chip sends to its successor, all groups at
  // once, n - 1 times.
  std::vector<std::pair<int, int>> messages;
  for (const std::vector<int>& chips : shape.chips) {
    for (size_t i = 0; i < chips.size(); ++i) {
      messages.push_back({chips[i], chips[(i + 1) % chips.size()]});
    }
  }
  const LinkLoad load = LoadOf(topology, messages);
  const double link_bytes = (n - 1.0) / n * V * load.max_messages;
  return {link_bytes / link.w + (n - 1.0) * load.max_hops * link.t, link_bytes,
          1, absl::StrCat("ring of ", n, " over shared links")};
}

// Ring between slices over DCN: (s-1)/s V over the NICs of a slice, twice for
// an all-reduce.
double DcnSeconds(Kind kind, const GroupShape& shape,
                  const chips::ChipSpec& chip, double V) {
  if (shape.slices <= 1) return 0;
  const double s = shape.slices;
  const double rate = chip.host_link().dcn.count() * shape.chips[0].size() /
                      shape.groups_per_chip;
  const double once =
      (s - 1) / s * V / rate + ToSeconds(chip.host_link().dcn_latency);
  return kind == Kind::kAllReduce ? 2 * once : once;
}

absl::StatusOr<CollectiveCost> PermuteCost(const Collective& c,
                                           const chips::Topology& topology,
                                           const chips::ChipSpec& chip,
                                           Link link) {
  const int per_chip = topology.devices_per_chip();
  const int per_slice = topology.chips_per_slice();
  std::vector<std::pair<int, int>> messages;
  std::vector<int> within(topology.num_chips(), 0);  // messages of a chip
  bool dcn = false;
  for (const auto& [source, target] : c.pairs) {
    if (std::min(source, target) < 0 ||
        std::max(source, target) >= topology.num_devices()) {
      return absl::InvalidArgumentError(
          absl::StrCat("permute from device ", source, " to ", target,
                       "; the slice has ", topology.num_devices()));
    }
    const int from = static_cast<int>(source) / per_chip;
    const int to = static_cast<int>(target) / per_chip;
    if (from / per_slice != to / per_slice) {
      dcn = true;
    } else if (from != to) {
      messages.push_back({from % per_slice, to % per_slice});
    } else if (source != target) {
      ++within[from];
    }
  }
  const LinkLoad load = LoadOf(topology, messages);
  const double S = static_cast<double>(c.bytes.count());
  CollectiveCost cost;
  cost.phases = 1;
  cost.group_size = static_cast<int>(c.pairs.size());
  cost.bytes_per_link = Bytes(S * load.max_messages);
  cost.hbm_bytes = Bytes(2 * S);
  cost.algorithm = absl::StrCat("permute over ", load.max_hops, " hops");
  const double on_chip = S * *std::max_element(within.begin(), within.end()) /
                         chip.dma().on_chip.count();
  double seconds =
      ToSeconds(chip.ici().permute_startup) +
      std::max(PointToPoint(S * load.max_messages, load.max_hops, link),
               on_chip);
  if (dcn) {
    const double over = ToSeconds(chip.host_link().dcn_latency) +
                        S / chip.host_link().dcn.count();
    cost.dcn_time = Round(over);
    seconds = std::max(seconds, over);
  }
  cost.time = TimeOf(seconds, cost.hbm_bytes, chip);
  return cost;
}

}  // namespace

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kAllReduce:
      return "all-reduce";
    case Kind::kAllGather:
      return "all-gather";
    case Kind::kReduceScatter:
      return "reduce-scatter";
    case Kind::kAllToAll:
      return "all-to-all";
    case Kind::kPermute:
      return "collective-permute";
  }
  return "?";
}

absl::StatusOr<CollectiveCost> CostOf(const Collective& c,
                                      const chips::Topology& topology,
                                      const chips::ChipSpec& chip) {
  Link link = {chip.ici().effective_link().count(), ToSeconds(chip.ici().hop)};
  if (c.kind == Kind::kPermute) return PermuteCost(c, topology, chip, link);
  ASSIGN_OR_RETURN(GroupShape shape, ShapeOfGroups(c.groups, topology),
                   _ << KindName(c.kind));
  CollectiveCost cost;
  cost.group_size = shape.size;
  if (shape.size <= 1) {
    cost.algorithm = "one device";
    return cost;
  }
  // Boxes of the same chips, one for each of their devices, share all links.
  const double sharing = shape.is_box ? shape.groups_per_chip : 1;
  link.w /= sharing;
  const double V = static_cast<double>(c.bytes.count());
  const double startup = ToSeconds(chip.ici().collective_startup);
  double seconds = startup;
  if (c.kind == Kind::kAllToAll) {
    if (!shape.is_box) {
      return absl::UnimplementedError(
          "all-to-all over groups that are not boxes of the slice");
    }
    // Between chips, and between the devices of each.
    seconds += AllToAllTorus(shape.axes, V * shape.devices_per_chip, link) +
               V * (shape.devices_per_chip - 1) / shape.size /
                   chip.dma().on_chip.count();
    cost.bytes_per_link = Bytes(AllToAllTorus(
        shape.axes, V * shape.devices_per_chip * sharing, {1, 0}));
    cost.phases = static_cast<int>(shape.axes.size());
    cost.hbm_bytes = Bytes(2 * V);
    cost.algorithm = absl::StrCat("all-to-all on ", Sizes(shape.axes));
    if (shape.slices > 1) {
      const double over =
          ToSeconds(chip.host_link().dcn_latency) +
          V * (shape.slices - 1) / shape.slices / chip.host_link().dcn.count();
      cost.dcn_time = Round(over);
      seconds += over;
    }
    cost.time = TimeOf(seconds, cost.hbm_bytes, chip);
    return cost;
  }
  // Devices of one chip exchange their part over the on-chip path first and
  // last.
  const int times = c.kind == Kind::kAllReduce ? 2 : 1;
  const Gather gather = GatherInSlice(
      shape, topology, c.kind == Kind::kAllReduce ? V : V / shape.slices, link);
  seconds += times * gather.seconds;
  if (shape.devices_per_chip > 1) {
    seconds += times * V / chip.dma().on_chip.count();
  }
  const double dcn = DcnSeconds(c.kind, shape, chip, V);
  cost.dcn_time = Round(dcn);
  cost.bytes_per_link = Bytes(times * sharing * gather.link_bytes);
  cost.phases = times * gather.phases;
  cost.algorithm = gather.algorithm;
  if (shape.slices > 1) {
    absl::StrAppend(&cost.algorithm, ", then ", shape.slices,
                    " slices over DCN");
  }
  // Each step reads what it sends and writes what it gets.
  const double n = shape.size;
  cost.hbm_bytes = Bytes(times * 2 * (n - 1) / n * V);
  cost.time = TimeOf(seconds, cost.hbm_bytes, chip) + cost.dcn_time;
  return cost;
}

}  // namespace ptxla::ici

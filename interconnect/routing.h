// Which links a message takes: dimension-ordered shortest routes on a box of
// chips, the last axis first, ties at half a ring split by parity of the
// source so that both directions carry them.
#ifndef PTXLA_INTERCONNECT_ROUTING_H_
#define PTXLA_INTERCONNECT_ROUTING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "chips/topology.h"

namespace ptxla::ici {

// The one-way link that leaves `chip` along `axis` upward or downward.
struct LinkId {
  int chip = 0;
  int axis = 0;
  bool up = true;
  bool operator==(const LinkId& o) const {
    return chip == o.chip && axis == o.axis && up == o.up;
  }
};

// Links from chip `from` to chip `to` of one slice; empty if they are equal.
std::vector<LinkId> Route(const chips::Topology& topology, int from, int to);

int Hops(const chips::Topology& topology, int from, int to);

// What a set of simultaneous messages of equal size does to the links.
struct LinkLoad {
  int max_messages = 0;  // on the busiest one-way link
  int max_hops = 0;
};
LinkLoad LoadOf(const chips::Topology& topology,
                const std::vector<std::pair<int, int>>& messages);

}  // namespace ptxla::ici

#endif  // PTXLA_INTERCONNECT_ROUTING_H_

// Times of collectives on lines, rings and tori when nothing else uses the
// links. Seconds as double: the callers round once, to picoseconds.
//
//   w  bytes per second of one link, one way    t  seconds per hop
//   V  bytes of the whole gathered or reduced array in one group
//   S  bytes per chip
//
// Source of the formulas: jax-ml/scaling-book (tpus.md, sharding.md) for large
// n; the exact forms below reduce to them.
#ifndef PTXLA_INTERCONNECT_CLOSED_FORMS_H_
#define PTXLA_INTERCONNECT_CLOSED_FORMS_H_

#include <vector>

namespace ptxla::ici {

struct Link {
  double w = 0;
  double t = 0;
};

// An axis of the box that a collective runs over.
struct Axis {
  int size = 1;
  bool wrap = false;
};

// All-gather (and reduce-scatter, which takes as long) along one axis.
//   line  (n-1)/n V/w + (n-1) t
//   ring  min((n-1)/n V/2w + (n-1) t,        two rings, half shards each
//             ceil((n-1)/2) (V/(n w) + t))   whole shards both ways
double AllGatherAxis(Axis axis, double V, Link link);

// All-gather over all axes of size > 1: V in as many equal classes as there are
// axes, class c gathering along axes c, c+1, … in turn; each step lasts as long
// as its slowest class.
double AllGatherTorus(const std::vector<Axis>& axes, double V, Link link);

// Uniform all-to-all, dimension-ordered routes:
//   per axis  ring  S floor(n^2/4) / (2 n w)
//             line  S floor(n/2) ceil(n/2) / (n w)
//   time = the slowest axis + hops t, hops = floor(n/2) ring, n-1 line
double AllToAllTorus(const std::vector<Axis>& axes, double S, Link link);

// A message of S bytes over `hops` links with cut-through, split over `ports`
// disjoint routes: S/(ports w) + hops t.
double PointToPoint(double S, int hops, Link link, int ports = 1);

}  // namespace ptxla::ici

#endif  // PTXLA_INTERCONNECT_CLOSED_FORMS_H_

#include "interconnect/closed_forms.h"

#include <algorithm>

namespace ptxla::ici {
namespace {

std::vector<Axis> Proper(const std::vector<Axis>& axes) {
  std::vector<Axis> proper;
  for (const Axis& axis : axes) {
    if (axis.size > 1) proper.push_back(axis);
  }
  return proper;
}

}  // namespace

double AllGatherAxis(Axis axis, double V, Link link) {
  const double n = axis.size;
  if (axis.size <= 1) return 0;
  if (!axis.wrap) return (n - 1) / n * V / link.w + (n - 1) * link.t;
  const double two_rings = (n - 1) / n * V / (2 * link.w) + (n - 1) * link.t;
  const double both_ways = (axis.size / 2) * (V / (n * link.w) + link.t);
  return std::min(two_rings, both_ways);
}

double AllGatherTorus(const std::vector<Axis>& all, double V, Link link) {
  const std::vector<Axis> axes = Proper(all);
  const int k = static_cast<int>(axes.size());
  double total = 0;
  for (int step = 0; step < k; ++step) {
    double slowest = 0;
    for (int c = 0; c < k; ++c) {
      double size = V / k;
      for (int later = step + 1; later < k; ++later) {
        size /= axes[(c + later) % k].size;
      }
      slowest =
          std::max(slowest, AllGatherAxis(axes[(c + step) % k], size, link));
    }
    total += slowest;
  }
  return total;
}

double AllToAllTorus(const std::vector<Axis>& all, double S, Link link) {
  double slowest = 0;
  int hops = 0;
  for (const Axis& axis : Proper(all)) {
    const int n = axis.size;
    if (axis.wrap) {
      slowest = std::max(slowest, S * (n * n / 4) / (2.0 * n) / link.w);
      hops += n / 2;
    } else {
      slowest =
          std::max(slowest, S * ((n / 2) * ((n + 1) / 2)) / (1.0 * n) / link.w);
      hops += n - 1;
    }
  }
  return slowest + hops * link.t;
}

double PointToPoint(double S, int hops, Link link, int ports) {
  return S / (ports * link.w) + hops * link.t;
}

}  // namespace ptxla::ici

#include "hlo_backend/lowering/movement/box_planes.h"

#include <algorithm>
#include <utility>

namespace ptxla::lowering {

bool Whole(const PlaneAxis& axis) {
  for (const PlaneAxis::From& f : axis.from) {
    if (!f.map.Shifts() || f.map.dynamic >= 0 || f.map.start != 0 ||
        f.map.lo != 0 || f.map.hi != axis.size || f.extent != axis.size) {
      return false;
    }
  }
  return true;
}

namespace {

// `inner` is the next dimension of both sides, and whole.
bool Join(const PlaneAxis& inner, PlaneAxis* outer) {
  if (!Whole(inner) || outer->pitch != inner.pitch * inner.size) return false;
  for (size_t k = 0; k < inner.from.size(); ++k) {
    const PlaneAxis::From& f = outer->from[k];
    if (f.pitch != inner.from[k].pitch * inner.size || !f.map.Shifts() ||
        f.map.dynamic >= 0) {
      return false;
    }
  }
  for (size_t k = 0; k < inner.from.size(); ++k) {
    PlaneAxis::From& f = outer->from[k];
    f.pitch = inner.from[k].pitch;
    f.extent *= inner.size;
    f.map.start *= inner.size;
    f.map.lo *= inner.size;
    f.map.hi *= inner.size;
  }
  outer->size *= inner.size;
  outer->pitch = inner.pitch;
  return true;
}

}  // namespace

int64_t PlaneAxis::dilation() const { return from[0].map.dilation; }
bool PlaneAxis::reversed() const { return from[0].map.stride < 0; }

bool PlaneAxis::Shifts() const {
  for (const From& f : from) {
    if (!f.map.Shifts()) return false;
  }
  return true;
}

BoxPlanes BoxPlanes::Of(const BoxMap& map) {
  BoxPlanes planes = Apart(map);
  std::vector<PlaneAxis> joined;
  for (PlaneAxis& axis : planes.axes) {
    if (!joined.empty() && Join(axis, &joined.back())) continue;
    joined.push_back(std::move(axis));
  }
  planes.axes = std::move(joined);
  return planes;
}

BoxPlanes BoxPlanes::Apart(const BoxMap& map) {
  BoxPlanes planes;
  planes.offsets.assign(map.sources.size(), 0);
  for (int q = 0; q + 2 < map.out.rank(); ++q) {
    PlaneAxis axis;
    axis.size = map.out.sizes[q];
    axis.pitch = map.out.PlanePitch(q);
    bool fixed = axis.size == 1;
    for (const BoxSource& s : map.sources) {
      const AxisMap& m = s.axes[q];
      axis.from.push_back(
          {s.array.PlanePitch(m.from), s.array.sizes[m.from], m});
      fixed &= m.dynamic < 0 && m.lo == 0 && m.hi == 1 && m.dilation == 1;
    }
    if (fixed) {
      for (size_t k = 0; k < axis.from.size(); ++k) {
        planes.offsets[k] += axis.from[k].map.start * axis.from[k].pitch;
      }
      continue;
    }
    planes.axes.push_back(std::move(axis));
  }
  return planes;
}

bool BoxPlanes::PutSmallFirst(size_t count) {
  std::vector<int64_t> sizes;
  for (const PlaneAxis& a : axes) {
    if (Whole(a)) sizes.push_back(a.size);
  }
  if (sizes.size() < count) return false;
  std::sort(sizes.begin(), sizes.end());
  sizes.resize(count);
  // Outer ones before inner ones of the same size: these are long runs.
  std::stable_partition(axes.begin(), axes.end(), [&](const PlaneAxis& a) {
    const auto it = std::find(sizes.begin(), sizes.end(), a.size);
    if (!Whole(a) || it == sizes.end()) return false;
    sizes.erase(it);
    return true;
  });
  return true;
}

}  // namespace ptxla::lowering

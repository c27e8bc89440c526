#include "hlo_backend/passes/layout/dimension_cuts.h"

#include <algorithm>

#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Cuts at the left border of dimension d wherever wanted(d) says so.
template <class Wanted>
Cuts CutsWhere(absl::Span<const int64_t> dims, Wanted wanted) {
  Cuts cuts;
  const int64_t elements = Product(dims);
  int64_t suffix = 1;
  // The nearest dimension to the left that is not 1 decides.
  for (int d = static_cast<int>(dims.size()) - 1; d > 0; --d) {
    if (dims[d] == 1) continue;
    suffix *= dims[d];
    int left = d - 1;
    while (left >= 0 && dims[left] == 1) --left;
    if (left >= 0 && suffix < elements && wanted(left, d)) {
      AddCut(&cuts, suffix);
    }
  }
  return cuts;
}

}  // namespace

Cuts CutsOf(absl::Span<const int64_t> dims) {
  return CutsWhere(dims, [](int, int) { return true; });
}

DimVector DimsOf(const Cuts& cuts, int64_t elements) {
  DimVector dims;
  int64_t before = elements;
  for (size_t k = cuts.size(); k-- > 0;) {
    dims.push_back(before / cuts[k]);
    before = cuts[k];
  }
  dims.push_back(before);
  return dims;
}

bool HasCut(const Cuts& cuts, int64_t cut) {
  return std::binary_search(cuts.begin(), cuts.end(), cut);
}

void AddCut(Cuts* cuts, int64_t cut) {
  auto it = std::lower_bound(cuts->begin(), cuts->end(), cut);
  if (it == cuts->end() || *it != cut) cuts->insert(it, cut);
}

bool IsChain(const Cuts& cuts, int64_t elements) {
  for (size_t k = 0; k < cuts.size(); ++k) {
    const int64_t next = k + 1 < cuts.size() ? cuts[k + 1] : elements;
    if (next % cuts[k] != 0) return false;
  }
  return true;
}

Cuts CutsOfBroadcast(absl::Span<const int64_t> dims,
                     absl::Span<const int64_t> mapping) {
  return CutsWhere(dims, [&](int left, int right) {
    return Contains(mapping, left) || Contains(mapping, right);
  });
}

Cuts CutsOfReduce(absl::Span<const int64_t> dims,
                  absl::Span<const int64_t> reduced) {
  return CutsWhere(dims, [&](int left, int right) {
    return !Contains(reduced, left) || !Contains(reduced, right);
  });
}

Cuts LeastCutsOfBroadcast(absl::Span<const int64_t> dims,
                          absl::Span<const int64_t> mapping) {
  return CutsWhere(dims, [&](int left, int right) {
    const auto l = std::find(mapping.begin(), mapping.end(), left);
    const auto r = std::find(mapping.begin(), mapping.end(), right);
    if (l == mapping.end() || r == mapping.end()) return l != r;
    // Only dimensions of size 1 are between them, here and in the operand.
    if (l > r) return true;
    return std::any_of(l + 1, r, [&](int64_t d) { return dims[d] != 1; });
  });
}

Cuts LeastCutsOfReduce(absl::Span<const int64_t> dims,
                       absl::Span<const int64_t> reduced) {
  return CutsWhere(dims, [&](int left, int right) {
    return Contains(reduced, left) != Contains(reduced, right);
  });
}

DimVector PartOf(absl::Span<const int64_t> fine,
                 absl::Span<const int64_t> coarse) {
  DimVector part(fine.size(), 0);
  int c = static_cast<int>(coarse.size()) - 1;
  int64_t left = c >= 0 ? coarse[c] : 1;
  for (int d = static_cast<int>(fine.size()) - 1; d >= 0; --d) {
    while (left == 1 && c > 0 && fine[d] != 1) left = coarse[--c];
    part[d] = c;
    left /= fine[d];
  }
  return part;
}

}  // namespace ptxla::hlo

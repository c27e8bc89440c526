#include "hlo_backend/lowering/movement/fold_grid.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ptxla::lowering {
namespace {

// Bytes from the window's first byte to its block at index `i` of a dimension.
int64_t At(const isa::WindowDim* d, int64_t i) {
  if (d == nullptr) return 0;
  const int64_t unit = d->table.empty() ? i : d->table[i];
  return (d->origin + unit * d->Advance()) * d->hbm_stride;
}

void FoldWindow(int a, int b, int64_t count_a, int64_t count_b,
                isa::Window* w) {
  const isa::WindowDim *da = nullptr, *db = nullptr;
  std::vector<isa::WindowDim> rest;
  for (const isa::WindowDim& d : w->dims) {
    if (d.grid_dim == a) {
      da = &d;
    } else if (d.grid_dim == b) {
      db = &d;
    } else {
      rest.push_back(d);
      if (d.grid_dim > b) --rest.back().grid_dim;
    }
  }
  if (da != nullptr || db != nullptr) {
    isa::WindowDim both;
    both.grid_dim = a;
    both.advance = 1;
    for (const isa::WindowDim* d : {da, db}) {
      if (d == nullptr) continue;
      CHECK_EQ(d->block, 1);
      both.hbm_stride = std::gcd(both.hbm_stride, d->hbm_stride);
    }
    int64_t most = 0;
    for (int64_t i = 0; i < count_a; ++i) {
      for (int64_t j = 0; j < count_b; ++j) {
        both.table.push_back((At(da, i) + At(db, j)) / both.hbm_stride);
        most = std::max(most, both.table.back());
      }
    }
    both.extent = most + 1;
    rest.insert(rest.begin(), std::move(both));
  }
  w->dims = std::move(rest);
}

}  // namespace

void FoldGrid(int a, int b, Tiling* tiling) {
  const int64_t count_a = tiling->grid[a], count_b = tiling->grid[b];
  for (isa::Window& w : tiling->windows) {
    FoldWindow(a, b, count_a, count_b, &w);
  }
  tiling->grid[a] = count_a * count_b;
  tiling->grid.erase(tiling->grid.begin() + b);
  int& megacore = tiling->megacore_dim;
  if (megacore == b) {
    megacore = a;
  } else if (megacore > b) {
    --megacore;
  }
}

}  // namespace ptxla::lowering

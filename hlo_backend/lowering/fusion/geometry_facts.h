// What the cut of a fusion into steps, and the code of reductions, ask of a
// fusion's geometry.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_FACTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_FACTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/fusion/geometry.h"

namespace ptxla::lowering {

// Row tiles whose 128 values lie in one row.
inline constexpr int64_t kRowGroup = 16;

inline bool HasExpandedRows(const Geometry& g) {
  for (const Stream& s : g.streams) {
    if (s.access == Access::kLaneOfRows) return true;
  }
  return false;
}

// Row tiles that expanded rows and rows of a result come in: packed ones share
// their words with others.
inline int64_t RowGroup(const Geometry& g) {
  int packing = g.result_packing;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kLaneOfRows) {
      packing = std::max(packing, s.array.packing);
    }
  }
  return kRowGroup * packing;
}

inline bool Reduces(const Geometry& g) {
  return std::any_of(g.axes.begin(), g.axes.end(),
                     [](const Axis& a) { return a.reduced; });
}

inline bool ReducesMajors(const Geometry& g) {
  return std::any_of(g.axes.begin(), g.axes.end(), [](const Axis& a) {
    return a.kind == Axis::Kind::kMajor && a.reduced;
  });
}

// Each row (column) of tiles has results of its own.
inline bool KeepsRows(const Geometry& g) {
  return g.row_axis >= 0 && !g.axes[g.row_axis].reduced;
}
inline bool KeepsColumns(const Geometry& g) {
  return !g.axes[g.column_axis].reduced;
}

// The lanes (sublanes) of a tile become one result.
inline bool FoldsLanes(const Geometry& g) { return !KeepsColumns(g); }
inline bool FoldsSublanes(const Geometry& g) {
  return g.linear ? FoldsLanes(g)
                  : g.row_axis >= 0 && g.axes[g.row_axis].reduced;
}

inline int64_t TilesOf(const Geometry& g) {
  int64_t total = 1;
  for (const Axis& a : g.axes) total *= a.tiles;
  return total;
}

// Of all full streams per base tile.
inline int64_t BytesOfTile(const Geometry& g) {
  int64_t bytes = 0;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kTile) {
      bytes += 4096 / (s.pack_rows * s.pack_columns);
    }
  }
  return bytes;
}

// Major axes that are not reduced, outermost first.
inline std::vector<int> KeptMajors(const Geometry& g) {
  std::vector<int> majors;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (g.axes[a].kind == Axis::Kind::kMajor && !g.axes[a].reduced) {
      majors.push_back(static_cast<int>(a));
    }
  }
  return majors;
}

// Rows are reduced for columns that are not: these hold registers meanwhile.
inline bool KeepsColumnsOfRows(const Geometry& g) {
  return g.row_axis >= 0 && g.axes[g.row_axis].reduced && KeepsColumns(g);
}

// Results of 128 rows share a row of the result.
inline bool ReducesRows(const Geometry& g) {
  return g.axes[g.column_axis].reduced && g.row_axis >= 0;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_FACTS_H_

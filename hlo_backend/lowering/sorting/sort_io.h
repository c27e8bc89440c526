// Between a sort's windows and its arrays in scratch: elements come in any
// order (a network does not care which position one starts at, as long as the
// carried positions say so), and leave in the right one.
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_IO_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_IO_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/sorting/sort_network.h"
#include "hlo_backend/lowering/sorting/sort_problem.h"

namespace ptxla::lowering {

// Memory spaces of a step: scratch, operands, results.
inline constexpr int kSortScratch = 0;
inline constexpr int kSortIn = 1, kSortOut = 2;

// Kind kRows: tiles of one window, row tile by row tile.
struct SortTiles {
  int64_t row_stride = 0, tile_bytes = 0;  // in the window
  int64_t columns = 0;                     // tiles across
  int64_t tile_rows = 8;
};
class RowSortIo {
 public:
  RowSortIo(const SortProblem& problem, const SortLayout& layout,
            codegen::CodeBuilder* b)
      : problem_(problem), layout_(layout), b_(*b) {}
  void Load(int array, codegen::Sca window, const SortTiles& tiles);
  void Store(int array, codegen::Sca window, const SortTiles& tiles);
  // Rows from `from` on (of every sort) hold their own number.
  void Count(int array, int64_t from);

 private:
  void Copy(int array, codegen::Sca window, const SortTiles& tiles, bool in);

  const SortProblem& problem_;
  const SortLayout& layout_;
  codegen::CodeBuilder& b_;
};

// Kind kLanes: 128 neighbouring elements are a chunk; chunk c of the row that
// is sorted is at `window` + c * chunk_stride.
class LaneSortIo {
 public:
  // Results go through scratch: behind the carried arrays there is room for one
  // more. Else straight to the window.
  static bool NeedsStaging(const SortProblem& problem) {
    return problem.lanes < 128 || problem.pads();
  }
  LaneSortIo(const SortProblem& problem, const SortLayout& layout,
             codegen::CodeBuilder* b)
      : problem_(problem), layout_(layout), b_(*b) {}
  void Load(int array, codegen::Sca window, int64_t chunk_stride);
  void Store(int array, codegen::Sca window, int64_t chunk_stride);
  // Of whole lanes: the array's chunks in order, from byte `staging` of scratch
  // on.
  void Stage(int array, int64_t staging);
  void Count(int array, int64_t from);

 private:
  int64_t chunks() const { return (problem_.length + 127) / 128; }
  // Whole lanes are rows already; else 128 rows x `lanes` are transposed.
  bool whole() const { return problem_.lanes == 128; }
  void Transposed(int array, bool in);
  // All lanes of the array as chunks, chunk 0 at `chunks` + offset.
  void Spread(int array, int space, codegen::Sca chunks, int64_t offset,
              int64_t chunk_stride);
  int64_t Staging() const { return problem_.carried() * layout_.array_bytes; }

  const SortProblem& problem_;
  const SortLayout& layout_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_IO_H_

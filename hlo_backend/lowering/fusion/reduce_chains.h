// The chains of a stage's reductions: what the terms of each kept tile have
// come to, tile by tile, as the TPU compiler has it through one register per
// kept tile. Positions of extrema (position_fold.h) go beside these.
//
//   ReduceChains chains(e, g, tiling, partials, terms, b);
//   chains.BeginStage(0);
//   chains.Start(nest, region);                    // when a region is entered
//   RETURN_IF_ERROR(chains.Add(nest, sum, words, row, column));
//   Vec partial = chains.Of(sum, row, column);     // at its end
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CHAINS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CHAINS_H_

#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/partial_tiles.h"
#include "hlo_backend/lowering/fusion/reduce_terms.h"
#include "hlo_backend/lowering/fusion/reduce_tiling.h"

namespace ptxla::lowering {

class ReduceChains {
 public:
  // All must outlive it.
  ReduceChains(const Expression& e, const Geometry& g, const ReduceTiling& t,
               PartialTiles& partials, ReduceTerms& terms,
               codegen::CodeBuilder& b)
      : e_(e), g_(g), t_(t), partials_(partials), terms_(terms), b_(b) {}

  void BeginStage(int stage) { stage_ = stage; }
  // A reduction of the stage.
  bool IsOfStage(const Reduction& r) const {
    return e_.stage[r.root] == stage_;
  }

  // Those of all kept tiles of the region.
  void Start(NestCode& n, const Region& region);
  // Kept tiles of the region.
  int rows() const { return kept_rows_; }
  int columns() const { return kept_columns_; }

  // A tile's terms of `r`, which reduces values, and the positions that go with
  // them.
  absl::Status Add(NestCode& n, const Reduction& r, codegen::Vec words, int row,
                   int column);
  // Of a reduction of this stage and a tile of the region: what the chain of
  // its kept tile has come to.
  codegen::Vec& Of(const Reduction& r, int row, int column);

 private:
  codegen::Vec First(NestCode& n, const Reduction& r, int row, int column);
  absl::Status AddPositions(NestCode& n, const Reduction& extremum,
                            codegen::Vec words, int y, int x);
  absl::Status Accumulate(const Reduction& r, codegen::Vec value,
                          codegen::Vec* accumulator);

  const Expression& e_;
  const Geometry& g_;
  const ReduceTiling& t_;
  PartialTiles& partials_;
  ReduceTerms& terms_;
  codegen::CodeBuilder& b_;
  int stage_ = 0;
  // Of the region: per reduction and kept tile.
  std::vector<codegen::Vec> accumulators_;
  int kept_rows_ = 1, kept_columns_ = 1;
  bool local_ = false;  // to one block: it needs no register of its own
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CHAINS_H_

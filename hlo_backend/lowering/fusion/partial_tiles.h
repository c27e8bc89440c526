// The partial results of a step's reductions in scratch: one register per kept
// tile and reduction, carried over where the next grid step goes on with it.
//
//   PartialTiles partials(e, g, tiling, b);
//   partials.Fill();                          // the first step that shares
//   them partials.AddPointer(nest, k);             // when the nest sets up
//   addresses Vec sum = partials.Load(nest, k, row, column);
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_TILES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_TILES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduce_tiling.h"

namespace ptxla::lowering {

class PartialTiles {
 public:
  PartialTiles(const Expression& e, const Geometry& g, const ReduceTiling& t,
               codegen::CodeBuilder& b)
      : e_(e), g_(g), t_(t), b_(b), pointers_(t.reductions.size(), -1) {}

  // Of one reduction in one step.
  int64_t count() const;
  // The first of the steps that share them sets all to their start.
  void Fill();
  // What no element has changed, into the register `to`.
  void Start(const Reduction& r, codegen::Vec to);
  // The address of reduction k's, in the nest that is about to begin.
  void AddPointer(NestCode& n, int k);
  // Of reduction k and the kept tile at (row, column) of the open region.
  codegen::Vec Load(NestCode& n, int k, int row, int column);
  void Store(NestCode& n, int k, int row, int column, codegen::Vec v);

 private:
  int32_t Offset(const NestCode& n, int k, int row, int column) const;

  const Expression& e_;
  const Geometry& g_;
  const ReduceTiling& t_;
  codegen::CodeBuilder& b_;
  std::vector<int> pointers_;  // per reduction
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_TILES_H_

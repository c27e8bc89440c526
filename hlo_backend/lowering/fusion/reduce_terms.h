// What one tile of the iteration space adds to the reductions over it.
//
//   ReduceTerms terms(e, g, b);
//   ASSIGN_OR_RETURN(Vec x, terms.Words(nest, region, sum, row, column));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TERMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TERMS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

class ReduceTerms {
 public:
  ReduceTerms(const Expression& e, const Geometry& g, codegen::CodeBuilder& b)
      : e_(e), g_(g), b_(b) {}

  // The values that `r` reduces of a tile of the open region, as 32-bit words;
  // beyond the array the operation's identity.
  absl::StatusOr<codegen::Vec> Words(NestCode& n, const Region& region,
                                     const Reduction& r, int row, int column);
  // The same of a reduction of columns: beyond the rows the identity.
  absl::StatusOr<codegen::Vec> WordsOfColumns(NestCode& n, const Region& region,
                                              const Reduction& r, int row,
                                              int column);
  // The index of each element of a tile along the dimension whose positions
  // `r` finds. Of the tiles of a body one is held in a register, the others are
  // made of it.
  absl::StatusOr<codegen::Vec> Positions(NestCode& n, const Reduction& r,
                                         int row, int column);
  // Whether the values of reduction `r` are those of an array of bf16.
  bool AreOfBf16(const Reduction& r) const;

 private:
  // Lanes and sublanes of the tile that are inside the array; nothing: all.
  std::optional<codegen::Mask> Inside(const Region& region, int row,
                                      int column);

  const Expression& e_;
  const Geometry& g_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TERMS_H_

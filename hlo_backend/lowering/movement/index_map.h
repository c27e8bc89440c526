// Where each element of a data movement comes from: the composition of reshape,
// transpose, slice, reverse, pad, concatenate, broadcast and copy, as a
// function from a result index to an operand and an index in it.
//
//   ASSIGN_OR_RETURN(IndexMap map, IndexMap::Of(instruction));
//   Source s = map.At({3, 5});      // s.operand, s.index; operand -1: the fill
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_INDEX_MAP_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_INDEX_MAP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

struct Source {
  int operand = 0;  // of the instruction; -1: padding value
  hlo::DimVector index;
};

class IndexMap {
 public:
  // A lone movement instruction, or a fusion made of nothing else.
  // Unimplemented names an instruction that does more than move.
  static absl::StatusOr<IndexMap> Of(const hlo::Instruction& instruction);

  Source At(const hlo::DimVector& index) const;
  // The element is padding: so many elements from it on, along dimension `dim`
  // of the result, surely are too, itself among them; INT64_MAX: all that
  // follow.
  int64_t PaddingFrom(const hlo::DimVector& index, int dim) const;
  // Some of the result is padding.
  bool Pads() const;
  // A pad alone that puts as many rows between rows everywhere, dimension
  // `rows` of it, none before the first and no more behind the last: the rows
  // from one to the next. 0: another movement.
  int64_t RowsApart(int64_t rows) const;

 private:
  explicit IndexMap(const hlo::Instruction& instruction)
      : instruction_(&instruction) {}

  const hlo::Instruction* instruction_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_INDEX_MAP_H_

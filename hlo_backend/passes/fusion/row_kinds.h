// What an instruction may be in a kernel that goes on with a product's rows
// (row_fusion.h), or with the columns of each member of its batch.
//
//   scores = f32[b,m,n] dot(..)            the product
//   most   = f32[b,m] reduce(scores)       kRow: a value per row (or column)
//   e      = f32[b,m,n] exp(scores - most) kFull
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KINDS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KINDS_H_

#include "absl/container/flat_hash_map.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of the product's shape, or of its rows' shape; kNone: no member.
enum class RowKind { kNone, kFull, kRow };
using RowMembers = absl::flat_hash_map<const Instruction*, RowKind>;

// Whole rows of the product fit a step, and the other operand beside them.
bool RowsFit(const Instruction& dot, const chips::ChipSpec& chip);

// Asks of one product and the members that it has so far.
class RowKinds {
 public:
  // `of_columns`: rows are its columns, reduced over the last dimension but
  // one.
  RowKinds(const Instruction& dot, const RowMembers& members, bool of_columns)
      : dot_(dot), members_(members), of_columns_(of_columns) {}

  RowKind KindOf(const Instruction& i) const;
  bool HasRowShape(const Shape& s) const;
  // Made of constants and iotas alone (a causal mask): again where needed.
  bool IsFree(const Instruction& o) const;
  // Members are made of other arrays of the product's size, too; sums of the
  // product alone are row_statistics.h.
  bool ReadArrays() const;

 private:
  // Dimension of the product that one of its rows' values has.
  int DimOfRows(int d) const;
  bool IsRowsOfOthers(const Instruction& broadcast) const;
  bool IsLeafOf(const Instruction& o, bool full) const;
  // Made of what rows of these members reduce to.
  bool IsOfReduce(const Instruction& i) const;

  const Instruction& dot_;
  const RowMembers& members_;
  const bool of_columns_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KINDS_H_

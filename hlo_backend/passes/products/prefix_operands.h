// Products whose operand is the front of a longer row: they read the whole row
// in place, with zeros for what is behind, instead of a copy of its front. So
// does the TPU compiler with probabilities of attention that has a sink: the
// last column of a softmax, which nobody reads.
//
//   p = bf16[8,8192,1024] convert(slice(f32[8,8192,1025] x, its first columns))
//   d = dot(p, v)   // over 1024 rows of v
//   ==> dot(select(column < 1024, convert(x), 0), pad(v))   // over 1025
//
// Where the row is not what is summed (a gradient by v), its end is cut off the
// result instead.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class PrefixOperands {
 public:
  // The product that stands for `dot`, which it replaces; `dot` itself: no
  // operand is most of a row that elementwise work makes, or what has to be
  // copied instead takes more than half as many bytes.
  Instruction* Replaced(Instruction* dot);

 private:
  // The whole row that stands for an operand; null: it is no front.
  Instruction* RowsFor(Instruction* operand);

  // By operand: several products may read one.
  absl::flat_hash_map<const Instruction*, Instruction*> rows_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_

// Which elementwise work is done in front of a product, under its matmuls,
// instead of in a kernel of its own.
//
// The TPU compiler computes normalisations, activations, divisions of softmaxes
// and gradients of losses inside of the product that reads them, however many
// operations they are and however often a tile of the operand is visited
// (libtpu 0.0.42.1, v5e and v6e: chains of 5 to 60 operations, erf, sine and
// power before products of 512 to 8,192 columns).
//
//   ProloguePolicy policy(*context.chip);
//   int operations = policy.OperationsOf(*subtract) + ...;
//   if (PrologueForm(dot, 0) && policy.IsRepeated(value, operations, bytes))
//   ...
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_PROLOGUE_POLICY_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_PROLOGUE_POLICY_H_

#include <cstdint>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class ProloguePolicy {
 public:
  // No prologues but conversions.
  ProloguePolicy() = default;
  explicit ProloguePolicy(const chips::ChipSpec& chip);

  // Is work between two products done behind the first rather than in front of
  // the second? Of chips whose compiler streams what it computes
  // (streamed_prologues.h) in front, of others behind: gated units are
  // multiplied behind their second product on v4, v5e and v5p (libtpu
  // 0.0.42.1).
  bool FinishesProducts() const { return finishes_products_; }
  // May the operand of a product be computed in its kernel? Of a dot always; a
  // convolution computes it once for each tile of the other's features.
  bool MayCompute(const Instruction& dot, int operand) const;
  // Of a value that is read by a product and by other kernels: is the work of
  // `operations` on each of its elements, of arrays of `read` bytes, done again
  // for each of them, rather than once for all? If that takes no longer: a
  // kernel takes the time of its bytes or of its work, one core's vector units'
  // (libtpu 0.0.42.1; docs/kernels/product_fusions.md).
  bool IsRepeated(const Instruction& value, int operations, int64_t read) const;
  // What counts there: one for any operation but divisions and erf
  // (policy.repeated_...), however long the vector units take for it.
  int OperationsOf(const Instruction& instruction) const;

 private:
  bool computes_ = false;
  bool finishes_products_ = false;
  double bytes_per_operation_ = 0;  // of HBM, on one element by one core
  int division_ = 1, erf_ = 1;
  double one_visit_ = 0;     // columns
  int64_t plane_bytes_ = 0;  // of an array that a gradient's kernel is made of
};

// Has the dot the form whose operands lowering can compute: one batch order,
// K the last dimension of an operand or the one before, one free dimension; or,
// without a batch, several free dimensions of the left operand, one after
// another; or a gradient of weights that the operand's batch is contracted in,
// which turns it and alone reads it.
bool PrologueForm(const Instruction& dot, int operand);
// May the work before an operand of such a dot read this broadcast?
bool PrologueReads(const Instruction& dot, const Instruction& broadcast);

// Arrays whose tiles a prologue reads.
bool IsPrologueArray(const Shape& shape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_PROLOGUE_POLICY_H_

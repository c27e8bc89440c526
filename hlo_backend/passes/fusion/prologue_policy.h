// Which elementwise work is done in front of a product, under its matmuls,
// instead of in a kernel of its own.
//
// The TPU compiler computes normalisations, activations, divisions of softmaxes
// and gradients of losses inside of the product that reads them. An operand's
// work is done once for each of its tiles that a step visits: where the product
// has few rows or columns on the other side, once in all. The vector units work
// beside the arrays, so work that takes no longer than the matmuls is free.
//
//   ProloguePolicy policy(*context.chip);
//   int operations = policy.OperationsOf(*subtract) + ...;
//   if (PrologueForm(dot, 0) && policy.Hides(dot, 0, operations)) ...
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_PROLOGUE_POLICY_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_PROLOGUE_POLICY_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class ProloguePolicy {
 public:
  // No prologues but conversions.
  ProloguePolicy() = default;
  explicit ProloguePolicy(const chips::ChipSpec& chip);

  // Vector instructions for each register of 1,024 elements that an elementwise
  // instruction takes, about: `policy.operations_...` (tpu_slots, section 4).
  int OperationsOf(const Instruction& instruction) const;
  // Is work between two products done behind the first rather than in front of
  // the second? Of chips whose compiler streams what it computes
  // (streamed_prologues.h) in front, of others behind: gated units are
  // multiplied behind their second product on v4, v5e and v5p (libtpu
  // 0.0.42.1).
  bool FinishesProducts() const { return finishes_products_; }
  // Do `operations` of them on each element of the operand take no longer
  // than the dot's matmuls, or are they done only once?
  bool Hides(const Instruction& dot, int operand, int operations) const;
  // Of what several products read: is work of `operations` on each element of
  // arrays of `read` bytes done again for this one, rather than once for all?
  // While HBM moves the product's bytes (policy.repeated_work).
  bool IsRepeated(const Instruction& dot, int operand, int operations,
                  int64_t read) const;

 private:
  absl::flat_hash_map<Opcode, int> operations_;  // others: one
  int integer_division_ = 1;
  bool finishes_products_ = false;
  double operations_per_cycle_ = 0;  // elements x instructions, vector units
  double macs_per_cycle_ = 1;
  double one_visit_ = 0;      // columns
  int64_t plane_bytes_ = 0;   // of an array that a gradient's kernel is made of
  double repeated_work_ = 0;  // operations x bytes read, of each byte moved
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

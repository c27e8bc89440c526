// Scores of an attention that are not finished with their product
// (finished_columns.h): what of their softmax is done behind that product, and
// what in front of the next one. The kernel between the two has the rest:
// maxima, exponentials and their sums.
//
//   s = f32[8,4096,4096] dot(q, k)     s * scale, masked: behind this product
//   e = exp(s - max(s)), t = sum(e)    a kernel, which stores both
//   dot(bf16(e / t), v)                divides
//
// As libtpu 0.0.42.1 has it on v4, v5e and v5p.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_UNFINISHED_SCORES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_UNFINISHED_SCORES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class UnfinishedScores {
 public:
  // Of the softmaxes among `order`, a computation's instructions, operands
  // first. `chip` must outlive it.
  UnfinishedScores(const std::vector<Instruction*>& order,
                   const chips::ChipSpec& chip);

  // The last division of a softmax that one product reads: done in front of
  // that, so that exponentials and their sums are what is stored.
  bool IsLeftToProduct(const Instruction& i) const {
    return left_.contains(&i);
  }
  // The sums that these divide by.
  const absl::flat_hash_set<const Instruction*>& divisors() const {
    return divisors_;
  }

  // Elementwise work on a product's rows of so many scores, or that product.
  bool IsMadeOf(const Instruction& i, int64_t length) const;
  // Such work that is done behind the product, in f32, whatever the product's
  // type: scale and mask, but of short rows of bf16.
  bool StaysBehindProduct(const Instruction& i, int64_t length) const;

 private:
  void LeaveTo(const Instruction& dot, int operand);

  const chips::ChipSpec& chip_;
  absl::flat_hash_set<const Instruction*> left_, divisors_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_UNFINISHED_SCORES_H_

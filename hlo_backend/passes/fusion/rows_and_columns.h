// Reduces of the same arrays in one kernel, also of their rows and columns.
//
//   %n = f32[6144] rsqrt(...)                          // of rows
//   %r = f32[6144] reduce(multiply(%dy, %gx)), dimensions={1}
//   %c = f32[1536] reduce(multiply(%dy, multiply(%x, broadcast(%n)))),
//            dimensions={0}
//   %s = f32[6144] multiply(%r, %n)
//
// Both sums of a normalisation's gradient read two arrays, and pass over them
// once. Those that share two arrays meet before others do: the sum of squares
// of one of them stays alone then, and so does %n, which %c waits for, from %s,
// which waits for %r, as in the TPU compiler (libtpu 0.0.42.1 on v3 and v5e,
// gradients of RMS, layer and batch normalisations).
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROWS_AND_COLUMNS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROWS_AND_COLUMNS_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo_backend/passes/fusion/fused_inputs.h"
#include "hlo_backend/passes/fusion/kernel_groups.h"

namespace ptxla::hlo {

class RowsAndColumns {
 public:
  // Finds the pairs. `order`: operands before users; `chains` and `inputs` must
  // outlive this.
  RowsAndColumns(absl::Span<Instruction* const> order,
                 const FusionChains& chains, const FusedInputs& inputs);

  // What form the reduce has.
  void DescribeReduce(const Instruction& reduce, GroupKernel* kernel) const;
  // Which pairs the instruction waits for, and which wait for it.
  void DescribeOrder(const Instruction& i, GroupKernel* kernel) const;
  // One kernel of each pair, where dependences allow it.
  void Join(KernelGroups* groups) const;

 private:
  // A reduce and the arrays of its iteration shape that its kernel reads.
  struct Sum {
    const Instruction* reduce;
    std::vector<FusedInputs::Read> arrays;
    std::vector<const Instruction*> small;
  };
  Sum SumOf(const Instruction* reduce) const;

  const FusionChains& chains_;
  const FusedInputs& inputs_;
  // Reduces that share two arrays or more and that one kernel can make.
  std::vector<std::pair<const Instruction*, const Instruction*>> pairs_;
  // By number of the pair.
  absl::flat_hash_map<const Instruction*, std::vector<int>> first_of_, read_by_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROWS_AND_COLUMNS_H_

// A chain of two products: a fusion of kind kCustom whose body is two kernels,
// one after the other, and nothing else.
//
//   rows     a kOutput fusion around a dot: finished rows (a softmax of scores)
//   product  the root: a dot, or a kOutput fusion around one, which alone
//            reads those rows, as an operand of its dot
//
// Its kernel does both in each grid step, so that the rows live in VMEM for as
// long as a step takes and never have a place of their own:
//
//   %chain = (q: bf16[8,2048,128], k: ..., v: ...) -> bf16[8,2048,128] {
//     ...
//     %rows = bf16[8,2048,2048] fusion(%q, %k), kind=kOutput, calls=%softmax
//     ROOT %out = bf16[8,2048,128] dot(%rows, %v), ...
//   }
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_CHAIN_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_CHAIN_H_

#include <optional>

#include "absl/status/status.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct ProductChain {
  Instruction* rows = nullptr;
  Instruction* product = nullptr;
  int operand = 0;  // of the product's dot: the rows

  // nullopt: the body is no such pair.
  static std::optional<ProductChain> Of(const Instruction& fusion);
};

// The dot of a kernel: itself, or the one inside of a fusion; null: none.
const Instruction* DotOf(const Instruction& kernel);

// No operand of the kernel's dot has batch members in the rows of its tiles.
bool ReadsPlanes(const Instruction& kernel);

// May the kernel of `product` go on with the rows that `rows` makes? Both
// results lie row-major, `rows` is an operand as it is, with K along its rows,
// and of the same batch; no operand has batch members in rows of tiles
// (member_rows.h). The operand of the dot, or -1: it may not.
int GoesOnWithRows(const Instruction& rows, const Instruction& product);

// Unimplemented, naming what breaks the rule.
absl::Status CheckChainFusion(const Instruction& fusion);
// A fusion of kind kCustom that keeps to it.
bool IsChainFusion(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_CHAIN_H_

// Grouped products as kernels know them: what ragged-dot becomes in the
// compiler (passes/expanders/ragged_dot_expander.h).
//
//   RaggedDotRows    out[m, :] = lhs[m, :] x rhs[group of m]         [M, N]
//                    lhs [M, K], rhs [G, K, N]; rows beyond all groups give 0;
//                    f32, or bf16 where grouped
//   RaggedDotGroups  out[g] = transpose(lhs[rows of g]) x rhs[rows of g]
//                    lhs [M, K], rhs [M, N]                      f32[G, K, N]
//
// Operands: lhs, rhs, group sizes, and what scalar code made of the sizes:
//   dense    s32[G + 1]: first row of each group, and the last one's end. All
//            rows meet all groups, with those of other groups masked.
//   grouped  s32[S] each: rows, group and row tile of a step; S = tiles + G.
//            A step takes one tile of rows and one group that has rows in it.
#ifndef PTXLA_HLO_BACKEND_IR_RAGGED_CALL_H_
#define PTXLA_HLO_BACKEND_IR_RAGGED_CALL_H_

#include <cstdint>
#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

inline constexpr char kRaggedDotRows[] = "RaggedDotRows";
inline constexpr char kRaggedDotGroups[] = "RaggedDotGroups";

struct RaggedCall {
  bool by_groups = false;  // RaggedDotGroups
  bool dense = false;
  int64_t rows = 0;  // M
  int64_t k = 0, n = 0;
  int64_t groups = 0;
  PrimitiveType result = PrimitiveType::kF32;
  int64_t tile_rows = 0;  // of a step, if grouped
  int64_t steps = 0;      // over row tiles and groups, if grouped

  // Nothing: another instruction.
  static std::optional<RaggedCall> Of(const Instruction& i);
  // Of the whole product, each row once (dense: once per group).
  double MultiplyAdds() const;
  // As the instruction that it stands for.
  RaggedDotAttrs Attributes() const;

  static int64_t StepsFor(int64_t rows, int64_t tile_rows, int64_t groups);
};

// "rows" of a step in one word: the first and the end of the group's rows in
// the tile, and whether the step is the first of its block of the result.
inline constexpr int kRaggedFirstShift = 30;
inline constexpr int kRaggedLowShift = 15;

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_RAGGED_CALL_H_

// The nodes of an Expression: instructions of a fusion, each seen through the
// map from its dimensions to those of the iteration, made once for each map.
// Broadcasts, transposes, slices and reshapes of 1s become maps and places in
// arrays; they are no nodes.
//
//   ExpressionNodes nodes(fusion, &expression, reduce_root);
//   ASSIGN_OR_RETURN(int root, nodes.Of(value, identity));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_NODES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_NODES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/fusion/expression.h"

namespace ptxla::lowering {

class ExpressionNodes {
 public:
  // Appends to expression->nodes. `instr` is the fusion, or a lone instruction.
  // `reduce_root`: number of the root that computes a reduce.
  using ReduceRoot =
      std::function<absl::StatusOr<int>(const hlo::Instruction*)>;
  ExpressionNodes(const hlo::Instruction& instr, Expression* expression,
                  ReduceRoot reduce_root)
      : instr_(instr), e_(*expression), reduce_root_(std::move(reduce_root)) {}

  // The node of `i`, whose dimension k is indexed by dimension map[k] of the
  // iteration, or by 0 (-1). Unimplemented: no part of a formula.
  absl::StatusOr<int> Of(const hlo::Instruction* i, const hlo::DimVector& map);

  // `value`, made elsewhere, is read as operand `argument`.
  void AddLeaf(const hlo::Instruction* value, int argument) {
    leaves_[value] = argument;
  }

 private:
  using Key = std::pair<const hlo::Instruction*, std::vector<int64_t>>;

  int ArgumentOf(const hlo::Instruction* i) const;
  int Append(ExprNode node);
  absl::StatusOr<int> Make(const hlo::Instruction* i,
                           const hlo::DimVector& map);
  absl::StatusOr<int> Shifted(const hlo::Instruction* i, ExprNode node);
  absl::StatusOr<int> MakeElementwise(const hlo::Instruction* i,
                                      const hlo::DimVector& map, ExprNode node);
  const hlo::Instruction* BehindSign(const hlo::Instruction* i) const;
  bool RoundsFirst(const hlo::Instruction* i) const;
  absl::StatusOr<int> Unrounded(const hlo::Instruction* i,
                                const hlo::DimVector& map);
  absl::StatusOr<int> ThroughReshape(const hlo::Instruction* i,
                                     const hlo::DimVector& map);

  const hlo::Instruction& instr_;
  Expression& e_;
  ReduceRoot reduce_root_;
  std::map<Key, int> known_;
  absl::flat_hash_map<const hlo::Instruction*, int> leaves_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_NODES_H_

// The formula of a fusion over its iteration shape: what each result element is
// made of, with every value's index written in dimensions of the iteration.
//
// The iteration shape is seen physically (PhysicalArray): iteration dimension d
// is the d-th from major to minor. A value of another shape (behind a
// broadcast, or with dimensions of size 1 more or less) has a `map`: for each
// of its own dimensions the iteration dimension that indexes it, or -1 where
// its index is always 0. One instruction read through two maps makes two nodes.
//
//   ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
//   for (int root : e.roots) ... e.nodes[root] ...
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

struct ExprNode {
  // kProduct: the dot of an output fusion, computed elsewhere.
  enum class Kind : uint8_t { kOp, kLeaf, kConstant, kIota, kProduct };
  Kind kind = Kind::kOp;
  const hlo::Instruction* instr = nullptr;
  hlo::DimVector map;
  absl::InlinedVector<int, 3> inputs;  // kOp: nodes, in operand order
  int argument = -1;                   // kLeaf: operand number of the kernel
  // kLeaf: lane of the array's row that lane 0 of the value is (IsLaneSlice).
  int first_lane = 0;
  // kLeaf: the element of the array that is the value's first (IsTileSlice);
  // empty: the first of all.
  hlo::DimVector starts;
  // kLeaf: lanes of a row that is turned (LaneRotation): those before
  // `first_lane` follow the last. 0: they do not.
  int turned_lanes = 0;
  // kLeaf: parts of arguments, of which `argument` is one, that a step moves
  // into place (shifted_streams.h); null: an argument as it lies.
  const hlo::Instruction* shifted = nullptr;
  uint32_t constant = 0;  // kConstant: bits of the 32-bit value
  int iota_dim = -1;      // kIota: iteration dimension, -1: zero
  uint32_t depends = 0;   // bit d: varies along dimension d
  hlo::PrimitiveType type = hlo::PrimitiveType::kInvalid;
  // The sign of the input is changed on the way: exp(-x) multiplies by another
  // constant, -|x| sets a bit. `inputs` has the x.
  bool folds_sign = false;
  // A conversion to integers that rounds to nearest even; `inputs` has what is
  // not yet rounded.
  bool rounds = false;
};

struct Expression {
  std::vector<ExprNode> nodes;  // inputs before users
  // What is stored, or for a reduce what is reduced.
  std::vector<int> roots;
  // Root i is a reduce (the instruction) or nullptr.
  std::vector<const hlo::Instruction*> reduces;
  // Root i is a reduce of the columns beside others over the last dimension
  // (hlo::IsReduceOfColumns; `reduces` has nullptr for it), or nullptr.
  std::vector<const hlo::Instruction*> of_columns;
  // Root i is where the extrema of root extremum[i], a reduce of the same
  // elements, lie; -1: it is none of a position. What is "reduced" is the index
  // (analysis/extremum_position.h).
  std::vector<int> extremum;
  // Result leaf of the instruction that root i is; -1: a reduce that only the
  // epilogue reads.
  std::vector<int> results;
  // Result leaves made of reduced values: the epilogue's (BuildEpilogue).
  std::vector<int> epilogue;
  bool is_epilogue = false;
  // A value that needs a finished reduce (a softmax's sum needs the maximum)
  // is of a later stage. Of nodes, and of roots.
  std::vector<int> node_stage, stage;
  int stages = 1;
  // Root k, a reduce, is read by nodes of a later stage.
  std::vector<bool> read_back;
  PhysicalArray space;  // of the iteration shape
  hlo::Shape shape;     // the iteration shape

  // Root i is a value of the iteration shape that is stored.
  bool IsStored(size_t root) const {
    return reduces[root] == nullptr && of_columns[root] == nullptr;
  }

  // A fusion of kind kLoop, kInput or kOutput, or one instruction of those that
  // may stand in them. Unimplemented names what cannot be part of a formula.
  static absl::StatusOr<Expression> Build(const hlo::Instruction& i);

  // One value inside of a fusion, over its own shape: what a product's operand
  // is made of.
  static absl::StatusOr<Expression> BuildValue(const hlo::Instruction& fusion,
                                               const hlo::Instruction& value);

  // The elementwise rest of a fusion with reduces: `main` is its Build(). Its
  // iteration shape is that of the reduces' results; root k of main that is a
  // reduce is a leaf with argument kReduced + k and lies as `reduced` says. In
  // main such a leaf is a reduce that is broadcast again.
  static constexpr int kReduced = 1 << 16;
  static absl::StatusOr<Expression> BuildEpilogue(
      const hlo::Instruction& fusion, const Expression& main,
      const PhysicalArray& reduced);

  // Which input is a constant that needs no register, as the instruction can
  // hold it: of a sum or product in f32 or bf16 that is computed so, and the 1
  // of an f32 reciprocal; of a sum, a shift or bits of words. -1: none.
  int ImmediateInput(const ExprNode& node) const;

  // Leaves in argument order; one argument may have several.
  std::vector<int> Leaves() const;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_EXPRESSION_H_

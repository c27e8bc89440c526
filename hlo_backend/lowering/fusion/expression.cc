#include "hlo_backend/lowering/fusion/expression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/lowering/fusion/expression_nodes.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(const Instruction& i)
      : instr_(i), nodes_(i, &e_, [this](const Instruction* reduce) {
          return ReduceRoot(reduce);
        }) {}

  absl::StatusOr<Expression> Build() {
    const std::vector<const Instruction*> roots = Roots();
    const Instruction* reduce = FirstReduce();
    e_.shape = reduce ? reduce->operand(0)->shape() : roots[0]->shape();
    ASSIGN_OR_RETURN(e_.space, PhysicalArray::Of(e_.shape, true),
                     _ << "iteration of " << instr_.name());
    const auto is_rest = [&](const Instruction* r) {
      return reduce && hlo::StoredReduce(*r) == nullptr &&
             !r->shape().SameDims(e_.shape);
    };
    const bool epilogue = std::any_of(roots.begin(), roots.end(), is_rest);
    for (size_t k = 0; k < roots.size(); ++k) {
      const int leaf = static_cast<int>(k);
      const bool is_reduce = reduce && hlo::StoredReduce(*roots[k]) != nullptr;
      if (!is_reduce && !is_rest(roots[k])) {
        RETURN_IF_ERROR(AddRoot(roots[k], nullptr, leaf));
        continue;
      }
      std::vector<const Instruction*> reduces;
      FindReduces(roots[k], &reduces);
      for (const Instruction* r : reduces) {
        ASSIGN_OR_RETURN(int root, ReduceRoot(r));
        if (!epilogue) e_.results[root] = leaf;
      }
      if (epilogue) e_.epilogue.push_back(leaf);
    }
    SetStages();
    RETURN_IF_ERROR(PutColumnsApart());
    return std::move(e_);
  }

  absl::StatusOr<Expression> BuildValue(const Instruction& value) {
    e_.shape = value.shape();
    ASSIGN_OR_RETURN(e_.space, PhysicalArray::Of(e_.shape, true),
                     _ << "iteration of " << value.name());
    RETURN_IF_ERROR(AddRoot(&value, nullptr, 0));
    SetStages();
    return std::move(e_);
  }

  absl::StatusOr<Expression> BuildEpilogue(const Expression& main,
                                           const PhysicalArray& reduced) {
    for (size_t k = 0; k < main.roots.size(); ++k) {
      if (main.reduces[k] == nullptr) continue;
      nodes_.AddLeaf(main.reduces[k],
                     Expression::kReduced + static_cast<int>(k));
      e_.shape = main.reduces[k]->shape();
    }
    e_.space = reduced;
    e_.is_epilogue = true;
    const std::vector<const Instruction*> roots = Roots();
    for (int leaf : main.epilogue) {
      RETURN_IF_ERROR(AddRoot(roots[leaf], nullptr, leaf));
    }
    e_.node_stage.assign(e_.nodes.size(), 0);
    e_.stage.assign(e_.roots.size(), 0);
    return std::move(e_);
  }

 private:
  std::vector<const Instruction*> Roots() const {
    const bool fusion = instr_.opcode() == hlo::Opcode::kFusion;
    const Instruction* root = fusion ? instr_.fused()->root() : &instr_;
    if (fusion && root->opcode() == hlo::Opcode::kTuple) {
      return {root->operands().begin(), root->operands().end()};
    }
    return {root};
  }

  const Instruction* FirstReduce() const {
    if (instr_.opcode() == hlo::Opcode::kReduce) return &instr_;
    if (instr_.opcode() != hlo::Opcode::kFusion) return nullptr;
    for (const Instruction* i : instr_.fused()->instructions()) {
      if (i->opcode() == hlo::Opcode::kReduce) return i;
    }
    return nullptr;
  }

  // The reduces that `i` is made of; appends those that are new.
  void FindReduces(const Instruction* i,
                   std::vector<const Instruction*>* reduces) {
    if (i->opcode() == hlo::Opcode::kReduce) {
      if (std::find(reduces->begin(), reduces->end(), i) == reduces->end()) {
        reduces->push_back(i);
      }
      return;
    }
    if (!seen_.insert(i).second) return;
    for (const Instruction* operand : i->operands()) {
      FindReduces(operand, reduces);
    }
  }

  // Number of the root that computes this reduce.
  absl::StatusOr<int> ReduceRoot(const Instruction* reduce) {
    for (size_t k = 0; k < e_.reduces.size(); ++k) {
      if (e_.reduces[k] == reduce) return static_cast<int>(k);
    }
    const auto position = hlo::FindExtremumPosition(*reduce);
    if (position.has_value() && hlo::IsForPositionsOnly(*position->best)) {
      ASSIGN_OR_RETURN(const int extremum, ReduceRoot(position->best));
      RETURN_IF_ERROR(AddRoot(position->index, reduce, -1));
      e_.extremum.back() = extremum;
    } else {
      RETURN_IF_ERROR(AddRoot(reduce->operand(0), reduce, -1));
    }
    return static_cast<int>(e_.roots.size()) - 1;
  }

  void SetStages() {
    e_.read_back.assign(e_.roots.size(), false);
    for (const ExprNode& n : e_.nodes) {
      int stage = 0;
      for (int input : n.inputs) stage = std::max(stage, e_.node_stage[input]);
      if (n.kind == ExprNode::Kind::kLeaf &&
          n.argument >= Expression::kReduced) {
        const int root = n.argument - Expression::kReduced;
        e_.read_back[root] = true;
        stage = e_.node_stage[e_.roots[root]] + 1;
      }
      e_.node_stage.push_back(stage);
      e_.stages = std::max(e_.stages, stage + 1);
    }
    for (int root : e_.roots) e_.stage.push_back(e_.node_stage[root]);
  }

  // Reduces of columns, where others are over the last dimension.
  absl::Status PutColumnsApart() {
    const auto is_of_rows = [](const Instruction* r) {
      return r != nullptr && hlo::IsOverLastDimension(*r);
    };
    if (std::none_of(e_.reduces.begin(), e_.reduces.end(), is_of_rows)) {
      return absl::OkStatus();
    }
    for (size_t k = 0; k < e_.roots.size(); ++k) {
      const Instruction* r = e_.reduces[k];
      if (r == nullptr || !hlo::IsReduceOfColumns(*r)) continue;
      if (e_.stages > 1 || !e_.epilogue.empty() || e_.space.rank() < 2 ||
          e_.space.dims[e_.space.rank() - 1] != e_.space.rank() - 1) {
        return Unsupported(*r, "its columns beside reduces of other form");
      }
      std::swap(e_.reduces[k], e_.of_columns[k]);
    }
    return absl::OkStatus();
  }

  absl::Status AddRoot(const Instruction* value, const Instruction* reduce,
                       int leaf) {
    const Instruction* named = reduce ? reduce : value;
    if (!value->shape().SameDims(e_.shape)) {
      return Unsupported(*named, "roots have different iteration shapes");
    }
    if (reduce && reduce->operand_count() != 2) {
      return Unsupported(*named, "reduce of several arrays");
    }
    // Logical dimension l is iteration dimension identity[l].
    DimVector identity(e_.shape.rank(), 0);
    for (int d = 0; d < e_.space.rank(); ++d) identity[e_.space.dims[d]] = d;
    ASSIGN_OR_RETURN(int node, nodes_.Of(value, identity));
    e_.roots.push_back(node);
    e_.reduces.push_back(reduce);
    e_.of_columns.push_back(nullptr);
    e_.results.push_back(leaf);
    e_.extremum.push_back(-1);
    return absl::OkStatus();
  }

  const Instruction& instr_;
  Expression e_;
  ExpressionNodes nodes_;
  absl::flat_hash_set<const Instruction*> seen_;
};

}  // namespace

absl::StatusOr<Expression> Expression::Build(const Instruction& i) {
  return ExpressionBuilder(i).Build();
}

absl::StatusOr<Expression> Expression::BuildValue(const Instruction& fusion,
                                                  const Instruction& value) {
  return ExpressionBuilder(fusion).BuildValue(value);
}

absl::StatusOr<Expression> Expression::BuildEpilogue(
    const Instruction& fusion, const Expression& main,
    const PhysicalArray& reduced) {
  return ExpressionBuilder(fusion).BuildEpilogue(main, reduced);
}

int Expression::ImmediateInput(const ExprNode& node) const {
  if (node.kind != ExprNode::Kind::kOp || node.inputs.size() != 2) return -1;
  const auto constant = [&](int k) {
    return nodes[node.inputs[k]].kind == ExprNode::Kind::kConstant;
  };
  if (constant(0) == constant(1)) return -1;
  const int k = constant(0) ? 0 : 1;
  const uint32_t value = nodes[node.inputs[k]].constant;
  const bool is_word = node.type == hlo::PrimitiveType::kS32 ||
                       node.type == hlo::PrimitiveType::kU32;
  const bool is_float = node.type == hlo::PrimitiveType::kF32 ||
                        node.type == hlo::PrimitiveType::kBf16;
  switch (node.instr->opcode()) {
    case hlo::Opcode::kAdd:
      return is_float || is_word ? k : -1;
    case hlo::Opcode::kMultiply:
      return is_float ? k : -1;
    case hlo::Opcode::kDivide: {
      // A reciprocal of bf16 needs no exact division.
      constexpr uint32_t kOne = 0x3f800000;
      return k == 0 && value == kOne && node.type == hlo::PrimitiveType::kF32
                 ? 0
                 : -1;
    }
    case hlo::Opcode::kPower: {
      const float y = numerics::FloatFromBits(value);
      return is_float && k == 1 && std::isfinite(y) && y != 0 && y != 1 ? 1
                                                                        : -1;
    }
    case hlo::Opcode::kAnd:
    case hlo::Opcode::kOr:
    case hlo::Opcode::kXor:
      return is_word ? k : -1;
    case hlo::Opcode::kShiftLeft:
    case hlo::Opcode::kShiftRightLogical:
    case hlo::Opcode::kShiftRightArithmetic:
      // Of the others nothing is left but signs.
      return is_word && k == 1 && value < 32 ? 1 : -1;
    default:
      return -1;
  }
}

std::vector<int> Expression::Leaves() const {
  std::vector<int> leaves;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind == ExprNode::Kind::kLeaf) {
      leaves.push_back(static_cast<int>(n));
    }
  }
  return leaves;
}

}  // namespace ptxla::lowering

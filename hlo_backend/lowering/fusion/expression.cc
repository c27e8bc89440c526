#include "hlo_backend/lowering/fusion/expression.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/vector_loops.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;
using hlo::Opcode;
using hlo::PrimitiveType;

absl::Status Unsupported(const Instruction& i, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(i.name(), " (", hlo::OpcodeName(i.opcode()), "): ", why));
}

// The 32-bit register image of a scalar: floats as f32, integers extended.
absl::StatusOr<uint32_t> RegisterImage(const Instruction& i) {
  const hlo::Literal& literal = i.literal();
  const PrimitiveType type = i.shape().type();
  if (hlo::BitWidth(type) > 32) {
    return Unsupported(i, "constants of this width have no vector kernels");
  }
  if (hlo::IsFloat(type)) {
    return numerics::FloatBits(static_cast<float>(literal.GetDouble(0)));
  }
  return static_cast<uint32_t>(literal.GetInt(0));
}

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(const Instruction& i) : instr_(i) {}

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
      leaves_[main.reduces[k]] = Expression::kReduced + static_cast<int>(k);
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
    const bool fusion = instr_.opcode() == Opcode::kFusion;
    const Instruction* root = fusion ? instr_.fused()->root() : &instr_;
    if (fusion && root->opcode() == Opcode::kTuple) {
      return {root->operands().begin(), root->operands().end()};
    }
    return {root};
  }

  const Instruction* FirstReduce() const {
    if (instr_.opcode() == Opcode::kReduce) return &instr_;
    if (instr_.opcode() != Opcode::kFusion) return nullptr;
    for (const Instruction* i : instr_.fused()->instructions()) {
      if (i->opcode() == Opcode::kReduce) return i;
    }
    return nullptr;
  }

  // The reduces that `i` is made of; appends those that are new.
  void FindReduces(const Instruction* i,
                   std::vector<const Instruction*>* reduces) {
    if (i->opcode() == Opcode::kReduce) {
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
    ASSIGN_OR_RETURN(int node, Node(value, identity));
    e_.roots.push_back(node);
    e_.reduces.push_back(reduce);
    e_.results.push_back(leaf);
    e_.extremum.push_back(-1);
    return absl::OkStatus();
  }

  using Key = std::pair<const Instruction*, std::vector<int64_t>>;

  absl::StatusOr<int> Node(const Instruction* i, const DimVector& map) {
    const Key key{i, std::vector<int64_t>(map.begin(), map.end())};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    ASSIGN_OR_RETURN(int node, Make(i, map));
    known_[key] = node;
    return node;
  }

  // Leaf if it comes from outside: an operand of the lone instruction, or a
  // parameter of the fusion.
  int ArgumentOf(const Instruction* i) const {
    const auto leaf = leaves_.find(i);
    if (leaf != leaves_.end()) return leaf->second;
    if (instr_.opcode() == Opcode::kFusion) {
      return i->opcode() == Opcode::kParameter
                 ? static_cast<int>(i->parameter_number())
                 : -1;
    }
    return i == &instr_ ? -1 : instr_.OperandIndex(i);
  }

  int Append(ExprNode node) {
    if (node.kind == ExprNode::Kind::kLeaf) {
      for (size_t k = 0; k < node.map.size(); ++k) {
        if (node.map[k] >= 0 && node.instr->shape().dim(k) > 1) {
          node.depends |= 1u << node.map[k];
        }
      }
    } else if (node.kind == ExprNode::Kind::kIota && node.iota_dim >= 0) {
      node.depends = 1u << node.iota_dim;
    }
    for (int input : node.inputs) node.depends |= e_.nodes[input].depends;
    e_.nodes.push_back(std::move(node));
    return static_cast<int>(e_.nodes.size()) - 1;
  }

  absl::StatusOr<int> Make(const Instruction* i, const DimVector& map) {
    ExprNode node;
    node.instr = i;
    node.map = map;
    node.type = i->shape().type();
    node.argument = ArgumentOf(i);
    if (i->opcode() == Opcode::kConstant && i->literal().IsUniform()) {
      node.kind = ExprNode::Kind::kConstant;
      node.argument = -1;
      ASSIGN_OR_RETURN(node.constant, RegisterImage(*i));
      return Append(std::move(node));
    }
    if (node.argument >= 0) {
      node.kind = ExprNode::Kind::kLeaf;
      return Append(std::move(node));
    }
    switch (i->opcode()) {
      case Opcode::kIota: {
        node.kind = ExprNode::Kind::kIota;
        node.iota_dim =
            static_cast<int>(map[i->attrs<hlo::IotaAttrs>().dimension]);
        return Append(std::move(node));
      }
      case Opcode::kConvolution:
      case Opcode::kDot:
        node.kind = ExprNode::Kind::kProduct;
        for (int64_t d : map) {
          if (d >= 0) node.depends |= 1u << d;
        }
        return Append(std::move(node));
      case Opcode::kBroadcast: {
        DimVector inner;
        for (int64_t d : i->dimensions()) inner.push_back(map[d]);
        // A dimension of size 1 is indexed by 0 only.
        return Node(i->operand(0), Degenerate(i->operand(0), inner));
      }
      case Opcode::kTranspose: {
        DimVector inner(map.size(), -1);
        for (size_t d = 0; d < map.size(); ++d) {
          inner[i->dimensions()[d]] = map[d];
        }
        return Node(i->operand(0), Degenerate(i->operand(0), inner));
      }
      case Opcode::kSlice: {
        const Instruction* array = i->operand(0);
        const DimVector& starts = i->attrs<hlo::SliceAttrs>().starts;
        const bool tiles = hlo::IsTileSlice(*i);
        node.argument = ArgumentOf(array);
        if (node.argument < 0 || (!tiles && !hlo::IsLaneSlice(*i))) break;
        node.kind = ExprNode::Kind::kLeaf;
        node.instr = array;
        if (tiles) {
          node.starts = starts;
        } else {
          node.first_lane = static_cast<int>(starts.back());
        }
        return Append(std::move(node));
      }
      case Opcode::kConcatenate: {
        const int turn = hlo::LaneRotation(*i);
        if (turn == 0) break;
        node.instr = i->operand(0)->operand(0);
        node.argument = ArgumentOf(node.instr);
        if (node.argument < 0) break;
        node.kind = ExprNode::Kind::kLeaf;
        node.first_lane = turn;
        node.turned_lanes = static_cast<int>(i->shape().dims().back());
        return Append(std::move(node));
      }
      case Opcode::kBitcast:
      case Opcode::kReshape:
        return ThroughReshape(i, map);
      case Opcode::kCopy:
        return Node(i->operand(0), map);
      default:
        break;
    }
    if (i->opcode() == Opcode::kReduce) {
      ASSIGN_OR_RETURN(int root, ReduceRoot(i));
      node.kind = ExprNode::Kind::kLeaf;
      node.argument = Expression::kReduced + root;
      return Append(std::move(node));
    }
    if (!i->IsElementwise()) {
      return Unsupported(*i, "not part of an elementwise formula");
    }
    if (const Instruction* x = BehindSign(i)) {
      node.folds_sign = true;
      ASSIGN_OR_RETURN(int input, Node(x, map));
      node.inputs.push_back(input);
      return Append(std::move(node));
    }
    for (const Instruction* operand : i->operands()) {
      // Clamp and select take scalars beside arrays.
      const bool scalar = operand->shape().rank() == 0;
      ASSIGN_OR_RETURN(int input, Node(operand, scalar ? DimVector() : map));
      node.inputs.push_back(input);
    }
    return Append(std::move(node));
  }

  // x of exp(-x) and -|x|; null: neither. The TPU compiler expands bf16 for
  // each of the two: its exponential has a negation of its own.
  const Instruction* BehindSign(const Instruction* i) const {
    if (i->operand_count() != 1 || !hlo::IsFloat(i->shape().type()) ||
        i->shape().type() == hlo::PrimitiveType::kF16) {
      return nullptr;
    }
    const Instruction* sign = i->operand(0);
    if (ArgumentOf(sign) >= 0) return nullptr;
    const bool bf16 = i->shape().type() == hlo::PrimitiveType::kBf16;
    const bool folds =
        (i->opcode() == Opcode::kExp && sign->opcode() == Opcode::kNegate &&
         !bf16) ||
        (i->opcode() == Opcode::kNegate && sign->opcode() == Opcode::kAbs);
    return folds ? sign->operand(0) : nullptr;
  }

  static DimVector Degenerate(const Instruction* i, DimVector map) {
    for (size_t k = 0; k < map.size(); ++k) {
      if (i->shape().dim(static_cast<int>(k)) == 1) map[k] = -1;
    }
    return map;
  }

  // Dimensions of size 1 come and go; the others keep their order.
  absl::StatusOr<int> ThroughReshape(const Instruction* i,
                                     const DimVector& map) {
    const Instruction* operand = i->operand(0);
    const hlo::Shape& from = operand->shape();
    const hlo::Shape& to = i->shape();
    DimVector inner(from.rank(), -1);
    int t = 0;
    for (int f = 0; f < from.rank(); ++f) {
      if (from.dim(f) == 1) continue;
      while (t < to.rank() && to.dim(t) == 1) ++t;
      if (t == to.rank() || to.dim(t) != from.dim(f)) {
        return Unsupported(*i, "a reshape that moves elements in a fusion");
      }
      inner[f] = map[t++];
    }
    return Node(operand, inner);
  }

  const Instruction& instr_;
  Expression e_;
  std::map<Key, int> known_;
  absl::flat_hash_set<const Instruction*> seen_;
  absl::flat_hash_map<const Instruction*, int> leaves_;
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
  if (node.kind != ExprNode::Kind::kOp || node.inputs.size() != 2 ||
      node.type != hlo::PrimitiveType::kF32) {
    return -1;
  }
  const auto constant = [&](int k) {
    return nodes[node.inputs[k]].kind == ExprNode::Kind::kConstant;
  };
  if (constant(0) == constant(1)) return -1;
  const Opcode op = node.instr->opcode();
  if (op == Opcode::kDivide) {
    constexpr uint32_t kOne = 0x3f800000;
    return constant(0) && nodes[node.inputs[0]].constant == kOne ? 0 : -1;
  }
  if (op != Opcode::kAdd && op != Opcode::kMultiply) return -1;
  return constant(0) ? 0 : 1;
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

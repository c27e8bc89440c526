#include "hlo_backend/lowering/fusion/expression_nodes.h"

#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/lowering/fusion/number_facts.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;
using hlo::PrimitiveType;

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

DimVector Degenerate(const Instruction* i, DimVector map) {
  for (size_t k = 0; k < map.size(); ++k) {
    if (i->shape().dim(static_cast<int>(k)) == 1) map[k] = -1;
  }
  return map;
}

}  // namespace

absl::StatusOr<int> ExpressionNodes::Of(const Instruction* i,
                                        const DimVector& map) {
  const Key key{i, std::vector<int64_t>(map.begin(), map.end())};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  ASSIGN_OR_RETURN(int node, Make(i, map));
  known_[key] = node;
  return node;
}

// Leaf if it comes from outside: an operand of the lone instruction, or a
// parameter of the fusion.
int ExpressionNodes::ArgumentOf(const Instruction* i) const {
  const auto leaf = leaves_.find(i);
  if (leaf != leaves_.end()) return leaf->second;
  if (instr_.opcode() == hlo::Opcode::kFusion) {
    return i->opcode() == hlo::Opcode::kParameter
               ? static_cast<int>(i->parameter_number())
               : -1;
  }
  return i == &instr_ ? -1 : instr_.OperandIndex(i);
}

int ExpressionNodes::Append(ExprNode node) {
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

absl::StatusOr<int> ExpressionNodes::Make(const Instruction* i,
                                          const DimVector& map) {
  ExprNode node;
  node.instr = i;
  node.map = map;
  node.type = i->shape().type();
  node.argument = ArgumentOf(i);
  if (i->opcode() == hlo::Opcode::kConstant && i->literal().IsUniform()) {
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
    case hlo::Opcode::kIota: {
      node.kind = ExprNode::Kind::kIota;
      node.iota_dim =
          static_cast<int>(map[i->attrs<hlo::IotaAttrs>().dimension]);
      return Append(std::move(node));
    }
    case hlo::Opcode::kConvolution:
    case hlo::Opcode::kDot:
      node.kind = ExprNode::Kind::kProduct;
      for (int64_t d : map) {
        if (d >= 0) node.depends |= 1u << d;
      }
      return Append(std::move(node));
    case hlo::Opcode::kBroadcast: {
      DimVector inner;
      for (int64_t d : i->dimensions()) inner.push_back(map[d]);
      // A dimension of size 1 is indexed by 0 only.
      return Of(i->operand(0), Degenerate(i->operand(0), inner));
    }
    case hlo::Opcode::kTranspose: {
      DimVector inner(map.size(), -1);
      for (size_t d = 0; d < map.size(); ++d) {
        inner[i->dimensions()[d]] = map[d];
      }
      return Of(i->operand(0), Degenerate(i->operand(0), inner));
    }
    case hlo::Opcode::kSlice: {
      const Instruction* array = i->operand(0);
      const DimVector& starts = i->attrs<hlo::SliceAttrs>().starts;
      const bool tiles = hlo::IsTileSlice(*i);
      node.argument = ArgumentOf(array);
      if (node.argument < 0 || (!tiles && !hlo::IsLaneSlice(*i))) {
        return Shifted(i, std::move(node));
      }
      node.kind = ExprNode::Kind::kLeaf;
      node.instr = array;
      if (tiles) {
        node.starts = starts;
      } else {
        node.first_lane = static_cast<int>(starts.back());
      }
      return Append(std::move(node));
    }
    case hlo::Opcode::kPad:
      return Shifted(i, std::move(node));
    case hlo::Opcode::kConcatenate: {
      const int turn = hlo::LaneRotation(*i);
      if (turn == 0) return Shifted(i, std::move(node));
      node.instr = i->operand(0)->operand(0);
      node.argument = ArgumentOf(node.instr);
      if (node.argument < 0) break;
      node.kind = ExprNode::Kind::kLeaf;
      node.first_lane = turn;
      node.turned_lanes = static_cast<int>(i->shape().dims().back());
      return Append(std::move(node));
    }
    case hlo::Opcode::kBitcast:
    case hlo::Opcode::kReshape:
      return ThroughReshape(i, map);
    case hlo::Opcode::kCopy:
      return Of(i->operand(0), map);
    default:
      break;
  }
  if (i->opcode() == hlo::Opcode::kReduce) {
    ASSIGN_OR_RETURN(int root, reduce_root_(i));
    node.kind = ExprNode::Kind::kLeaf;
    node.argument = Expression::kReduced + root;
    return Append(std::move(node));
  }
  return MakeElementwise(i, map, std::move(node));
}

// Parts of arguments: a leaf of the iteration's own shape.
absl::StatusOr<int> ExpressionNodes::Shifted(const Instruction* i,
                                             ExprNode node) {
  const Instruction* part = i;
  while (hlo::IsShift(*part)) part = part->operand(0);
  node.argument = ArgumentOf(part);
  const hlo::Shape& shape = i->shape();
  bool in_place =
      shape.SameDims(e_.shape) &&
      shape.layout().minor_to_major == e_.shape.layout().minor_to_major;
  for (int d = 0; in_place && d < shape.rank(); ++d) {
    in_place = shape.dim(d) == 1 || e_.space.dims[node.map[d]] == d;
  }
  if (node.argument < 0 || !in_place) {
    return Unsupported(*i, "not part of an elementwise formula");
  }
  node.kind = ExprNode::Kind::kLeaf;
  node.shifted = i;
  return Append(std::move(node));
}

absl::StatusOr<int> ExpressionNodes::MakeElementwise(const Instruction* i,
                                                     const DimVector& map,
                                                     ExprNode node) {
  if (!i->IsElementwise()) {
    return Unsupported(*i, "not part of an elementwise formula");
  }
  if (const Instruction* x = BehindSign(i)) {
    node.folds_sign = true;
    ASSIGN_OR_RETURN(int input, Of(x, map));
    node.inputs.push_back(input);
    return Append(std::move(node));
  }
  if (RoundsFirst(i)) {
    node.rounds = true;
    ASSIGN_OR_RETURN(int input, Unrounded(i->operand(0), map));
    node.inputs.push_back(input);
    return Append(std::move(node));
  }
  for (const Instruction* operand : i->operands()) {
    // Clamp and select take scalars beside arrays.
    const bool scalar = operand->shape().rank() == 0;
    ASSIGN_OR_RETURN(int input, Of(operand, scalar ? DimVector() : map));
    node.inputs.push_back(input);
  }
  return Append(std::move(node));
}

// x of exp(-x) and -|x|; null: neither. The TPU compiler expands bf16 for
// each of the two: its exponential has a negation of its own.
const Instruction* ExpressionNodes::BehindSign(const Instruction* i) const {
  if (i->operand_count() != 1 || !hlo::IsFloat(i->shape().type()) ||
      i->shape().type() == hlo::PrimitiveType::kF16) {
    return nullptr;
  }
  const Instruction* sign = i->operand(0);
  if (ArgumentOf(sign) >= 0) return nullptr;
  const bool bf16 = i->shape().type() == hlo::PrimitiveType::kBf16;
  const bool folds = (i->opcode() == hlo::Opcode::kExp &&
                      sign->opcode() == hlo::Opcode::kNegate && !bf16) ||
                     (i->opcode() == hlo::Opcode::kNegate &&
                      sign->opcode() == hlo::Opcode::kAbs);
  return folds ? sign->operand(0) : nullptr;
}

// A convert to integers of a number that is rounded to nearest even for it
// alone, maybe bounded after.
bool ExpressionNodes::RoundsFirst(const Instruction* i) const {
  if (i->opcode() != hlo::Opcode::kConvert ||
      !hlo::IsInteger(i->shape().type()) ||
      !hlo::IsFloat(i->operand(0)->shape().type())) {
    return false;
  }
  for (const Instruction* x = i->operand(0);;) {
    if (ArgumentOf(x) >= 0 || x->user_count() != 1) return false;
    if (x->opcode() == hlo::Opcode::kRoundNearestEven) return true;
    const int bounded = BoundedOperand(*x);
    if (bounded < 0) return false;
    x = x->operand(bounded);
  }
}

// The value of RoundsFirst without the rounding.
absl::StatusOr<int> ExpressionNodes::Unrounded(const Instruction* i,
                                               const DimVector& map) {
  if (i->opcode() == hlo::Opcode::kRoundNearestEven)
    return Of(i->operand(0), map);
  ExprNode node;
  node.instr = i;
  node.map = map;
  node.type = i->shape().type();
  const int bounded = BoundedOperand(*i);
  for (int k = 0; k < i->operand_count(); ++k) {
    const Instruction* operand = i->operand(k);
    const DimVector of = operand->shape().rank() == 0 ? DimVector() : map;
    ASSIGN_OR_RETURN(const int input,
                     k == bounded ? Unrounded(operand, of) : Of(operand, of));
    node.inputs.push_back(input);
  }
  return Append(std::move(node));
}

// Dimensions of size 1 come and go; the others keep their order.
absl::StatusOr<int> ExpressionNodes::ThroughReshape(const Instruction* i,
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
  return Of(operand, inner);
}

}  // namespace ptxla::lowering

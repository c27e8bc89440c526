#include "hlo_backend/passes/products/turned_value.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMostNodes = 64;
// Of the bytes of heads in rows, in percent, those of heads in lanes. DERIVED:
// libtpu 0.0.42.1 turns 77 tokens of heads of 64, which takes 80.
constexpr int64_t kMostTurned = 80;
// Of its own bytes, those of tables and the like that are moved for it.
// ASSUMED: cosines of one head are a sixteenth and less.
constexpr int64_t kLeastOfMoved = 4;

// Which dimension comes where.
DimVector OrderOfRoles(const DimVector& roles) {
  DimVector order = Identity(static_cast<int>(roles.size()));
  std::sort(order.begin(), order.end(),
            [&](int64_t x, int64_t y) { return roles[x] < roles[y]; });
  return order;
}

int64_t PlaceOf(int64_t dim, const DimVector& order) {
  return std::find(order.begin(), order.end(), dim) - order.begin();
}

bool IsSplatOrScalar(const Instruction& i) {
  return i.shape().IsScalar() ||
         (i.opcode() == Opcode::kConstant && i.literal().IsSplat());
}

}  // namespace

bool AreFullerTurned(int64_t depth, int64_t in_lanes, int64_t in_rows) {
  return depth % kTileRows == 0 && 100 * in_lanes <= kMostTurned * in_rows;
}

TurnedValue::TurnedValue(Computation* c, int generation, Instruction* value,
                         int lead)
    : c_(c), b_(c), generation_(generation), value_(value), lead_(lead) {
  Roles roles;
  const int rank = value->shape().rank();
  for (int d = 0; d < lead; ++d) roles.push_back(kLead + d);
  roles.push_back(kTokens);
  for (int d = lead + 1; d < rank - 1; ++d) roles.push_back(kHead + d);
  roles.push_back(kDepth);
  fits_ = Visit(value, roles);
}

// Tokens, heads and numbers of a head.
bool TurnedValue::IsFull(const Roles& roles) const {
  return roles.size() >= 3 && Contains(roles, kTokens) &&
         Contains(roles, kDepth) &&
         *std::max_element(roles.begin(), roles.end()) == kTokens &&
         std::any_of(roles.begin(), roles.end(),
                     [](int64_t r) { return r >= kHead && r < kDepth; });
}

bool TurnedValue::Visit(Instruction* value, const Roles& roles) {
  if (IsSplatOrScalar(*value) || IsIncreasing(roles)) return true;
  if (const auto found = nodes_.find(value); found != nodes_.end()) {
    return found->second.roles == roles;
  }
  if (nodes_.size() >= kMostNodes || !value->shape().IsArray() ||
      value->shape().has_layout() || HasControlEdges(*value)) {
    return false;
  }
  nodes_[value].roles = roles;
  order_.push_back(value);
  const auto all = [&](const Roles& of_operands) {
    return std::all_of(value->operands().begin(), value->operands().end(),
                       [&](Instruction* o) { return Visit(o, of_operands); });
  };
  switch (value->opcode()) {
    case Opcode::kReshape: {
      Node node;
      node.roles = roles;
      if (IsFull(roles) && VisitReshape(value, &node)) {
        nodes_[value] = std::move(node);
        return true;
      }
      break;
    }
    case Opcode::kIota:
      return true;
    case Opcode::kSlice:
    case Opcode::kConcatenate:
      return all(roles);
    case Opcode::kBroadcast: {
      Roles of_source;
      for (int64_t d : value->dimensions()) of_source.push_back(roles[d]);
      return Visit(value->operand(0), of_source);
    }
    case Opcode::kReduce: {
      const int rank = value->operand(0)->shape().rank();
      if (value->operand_count() != 2 || value->dimensions().size() != 1 ||
          value->dimensions()[0] != rank - 1 || Contains(roles, kDepth)) {
        break;
      }
      Roles of_source = roles;
      of_source.push_back(kDepth);
      return Visit(value->operand(0), of_source);
    }
    default:
      if (value->IsElementwise() && value->opcode() != Opcode::kCopy) {
        return all(roles);
      }
  }
  nodes_[value].moved = true;
  moved_bytes_ += value->shape().ByteSize();
  return true;
}

// Of rows of a projection, or of heads that are counted in another way, maybe
// with work between the reshapes.
bool TurnedValue::VisitReshape(Instruction* reshape, Node* node) {
  const absl::Span<const int64_t> dims = reshape->shape().dims();
  const int rank = reshape->shape().rank();
  const int64_t depth = dims.back();
  int64_t heads = 1;
  for (int d = lead_ + 1; d < rank - 1; ++d) heads *= dims[d];
  Instruction* x = reshape->operand(0);
  while (true) {
    if (x->shape().rank() > 0 && !x->shape().has_layout() &&
        x->shape().dims().back() == heads * depth && heads > 1) {
      node->source = x;
      node->projection = true;
      ++projections_;
      return true;
    }
    bool same =
        x->shape().rank() > lead_ + 2 && x->shape().dims().back() == depth;
    for (int d = 0; same && d <= lead_; ++d) {
      same = x->shape().dim(d) == dims[d];
    }
    if (same) {
      node->source = x;
      Roles roles;
      for (int d = 0; d < lead_; ++d) roles.push_back(kLead + d);
      roles.push_back(kTokens);
      for (int d = lead_ + 1; d < x->shape().rank() - 1; ++d) {
        roles.push_back(kHead + d);
      }
      roles.push_back(kDepth);
      return Visit(x, roles);
    }
    if (HasControlEdges(*x) || x->operand_count() != 1 ||
        x->user_count() != 1) {
      return false;
    }
    if (x->opcode() != Opcode::kReshape) {
      if (!x->IsElementwise() || x->opcode() == Opcode::kCopy) return false;
      node->between.push_back(x);
    }
    x = x->operand(0);
  }
}

// Is the value read by anything but what is turned with it?
bool TurnedValue::IsReadElsewhere(const Instruction& value) const {
  return std::any_of(
      value.users().begin(), value.users().end(), [&](const Instruction* u) {
        if (nodes_.contains(u)) return false;
        return std::none_of(
            nodes_.begin(), nodes_.end(), [&](const auto& node) {
              const auto& between = node.second.between;
              return std::find(between.begin(), between.end(), u) !=
                         between.end() ||
                     (u->opcode() == Opcode::kReshape && !between.empty() &&
                      between.back()->operand(0) == u);
            });
      });
}

bool TurnedValue::Pays() const {
  const absl::Span<const int64_t> dims = value_->shape().dims();
  if (!fits_ || projections_ == 0 ||
      kLeastOfMoved * moved_bytes_ > value_->shape().ByteSize()) {
    return false;
  }
  // Heads in rows, the last one as its product reads it.
  int64_t rows = 0, lanes = 0;
  for (const auto& [value, node] : nodes_) {
    if (!IsFull(node.roles)) continue;
    if (value != value_ && IsReadElsewhere(*value)) return false;
    const PrimitiveType type = value->shape().type();
    const Shape turned = Shape::Array(
        type, Permuted(value->shape().dims(), OrderOfRoles(node.roles)));
    lanes += TpuBytes(turned, generation_);
    DimVector as_it_lies(value->shape().dims().begin(),
                         value->shape().dims().end());
    if (value == value_ || node.projection) {
      std::rotate(as_it_lies.begin() + lead_, as_it_lies.begin() + lead_ + 1,
                  as_it_lies.end() - 1);
    }
    rows += TpuBytes(Shape::Array(type, as_it_lies), generation_);
  }
  return AreFullerTurned(dims.back(), lanes, rows);
}

Instruction* TurnedValue::Make() { return Turned(value_); }

Instruction* TurnedValue::Turned(Instruction* value) {
  const auto node = nodes_.find(value);
  if (node == nodes_.end()) return value;
  if (const auto it = turned_.find(value); it != turned_.end()) {
    return it->second;
  }
  b_.set_metadata(value->shared_metadata());
  const DimVector order = OrderOfRoles(node->second.roles);
  const Shape shape = Shape::Array(value->shape().type(),
                                   Permuted(value->shape().dims(), order));
  Instruction* result = nullptr;
  if (node->second.moved) {
    result = Transposed(&b_, value, order);
  } else if (value->opcode() == Opcode::kReshape) {
    result = TurnedReshape(value, node->second);
  } else if (value->opcode() == Opcode::kIota) {
    result =
        b_.Iota(shape, PlaceOf(value->attrs<IotaAttrs>().dimension, order));
  } else if (value->opcode() == Opcode::kBroadcast) {
    Roles roles;
    for (int64_t d : value->dimensions()) {
      roles.push_back(node->second.roles[d]);
    }
    DimVector places;
    for (int64_t k : OrderOfRoles(roles)) {
      places.push_back(PlaceOf(value->dimensions()[k], order));
    }
    result = b_.Broadcast(Turned(value->operand(0)), shape.dims(), places);
  } else if (value->opcode() == Opcode::kReduce) {
    const DimVector of_source =
        OrderOfRoles(nodes_.at(value->operand(0)).roles);
    Instruction* source = Turned(value->operand(0));
    result = b_.Reduce(source, value->operand(1),
                       {PlaceOf(value->dimensions()[0], of_source)},
                       value->to_apply());
  } else if (value->opcode() == Opcode::kSlice) {
    const SliceAttrs& a = value->attrs<SliceAttrs>();
    result = b_.Slice(Turned(value->operand(0)), Permuted(a.starts, order),
                      Permuted(a.limits, order), Permuted(a.strides, order));
  } else if (value->opcode() == Opcode::kConcatenate) {
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) operands.push_back(Turned(o));
    result = b_.Concatenate(operands, PlaceOf(value->dimensions()[0], order));
  } else {
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) {
      operands.push_back(o->shape().IsScalar() || !IsSplatOrScalar(*o)
                             ? Turned(o)
                             : Transposed(&b_, o, order));
    }
    result = c_->AddLike(*value, shape, operands);
  }
  return turned_[value] = result;
}

Instruction* TurnedValue::TurnedReshape(Instruction* reshape,
                                        const Node& node) {
  const absl::Span<const int64_t> dims = reshape->shape().dims();
  DimVector turned = Permuted(dims, OrderOfRoles(node.roles));
  Instruction* result = nullptr;
  if (node.projection) {
    DimVector rows(dims.begin(), dims.begin() + lead_ + 1);
    rows.push_back(node.source->shape().dims().back());
    Instruction* x = node.source->shape().dims() == rows
                         ? node.source
                         : b_.Reshape(node.source, rows);
    result = Transposed(&b_, x, LastTwoSwapped(lead_ + 2));
  } else {
    result = Turned(node.source);
  }
  for (size_t k = node.between.size(); k-- > 0;) {
    const Instruction& work = *node.between[k];
    result = c_->AddLike(
        work, Shape::Array(work.shape().type(), result->shape().dims()),
        {result});
  }
  return b_.Reshape(result, turned);
}

}  // namespace ptxla::hlo

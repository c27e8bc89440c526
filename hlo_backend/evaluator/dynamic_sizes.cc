#include "hlo_backend/evaluator/dynamic_sizes.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/dynamic_movement.h"
#include "hlo_backend/evaluator/fill.h"
#include "hlo_backend/evaluator/strided.h"
#include "hlo_backend/evaluator/value_parts.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

using AllCount = StaticEvaluation;

constexpr uint8_t kZero[16] = {};

absl::Status Refused() {
  return absl::UnimplementedError("of an array of dynamic size");
}

absl::StatusOr<Value> Elementwise(const Instruction& i,
                                  absl::Span<Value> operands,
                                  const AllCount& evaluate) {
  DimVector sizes = i.shape().dims();
  for (const Value& x : operands) {
    if (x.sizes() == nullptr) continue;
    for (size_t d = 0; d < sizes.size(); ++d) {
      sizes[d] = std::min(sizes[d], (*x.sizes())[d]);
    }
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

absl::StatusOr<Value> Reduce(const Instruction& i, absl::Span<Value> operands,
                             const AllCount& evaluate) {
  const size_t arrays = operands.size() / 2;
  DimVector kept;
  const DimVector sizes = SizesOf(operands[0]);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!Contains(i.dimensions(), static_cast<int64_t>(d))) {
      kept.push_back(sizes[d]);
    }
  }
  for (size_t j = 0; j < arrays; ++j) {
    if (SizesOf(operands[j]) != sizes) return Refused();
    operands[j] = FilledBeyondSizes(operands[j], operands[arrays + j].data());
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  if (!out.IsTuple()) return out.WithSizes(kept);
  std::vector<Value> parts;
  for (const Value& part : out.elements()) {
    parts.push_back(part.WithSizes(kept));
  }
  return Value::NewTuple(ShapeOf(i), std::move(parts));
}

absl::StatusOr<Value> DynamicDot(const Instruction& i,
                                 absl::Span<Value> operands,
                                 const AllCount& evaluate) {
  const DotAttrs& dot = i.attrs<DotAttrs>();
  const DimVector lhs = SizesOf(operands[0]);
  const DimVector rhs = SizesOf(operands[1]);
  DimVector sizes;
  for (int64_t d : dot.lhs_batch) sizes.push_back(lhs[d]);
  for (size_t d = 0; d < lhs.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (!Contains(dot.lhs_batch, dim) && !Contains(dot.lhs_contracting, dim)) {
      sizes.push_back(lhs[d]);
    }
  }
  for (size_t d = 0; d < rhs.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (!Contains(dot.rhs_batch, dim) && !Contains(dot.rhs_contracting, dim)) {
      sizes.push_back(rhs[d]);
    }
  }
  for (int k = 0; k < 2; ++k) {
    operands[k] = FilledBeyondSizes(operands[k], kZero);
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

// Dimensions of size 1 come and go; the others stay as they are.
absl::StatusOr<Value> Reshape(const Instruction& i, const Value& x) {
  const DimVector& from = x.shape().dims();
  const DimVector& to = i.shape().dims();
  DimVector sizes = to;
  size_t next = 0;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1) continue;
    while (next < from.size() && from[next] == 1) ++next;
    if (next == from.size() || from[next] != to[d]) return Refused();
    sizes[d] = (*x.sizes())[next++];
  }
  return x.WithShape(ShapeOf(i)).WithSizes(sizes);
}

// The elements that count, in order, are those of the result.
absl::StatusOr<Value> DynamicReshape(const Instruction& i,
                                     absl::Span<Value> operands) {
  const Value& x = operands[0];
  const DimVector in_sizes = SizesOf(x);
  DimVector out_sizes;
  for (const Value& size : operands.subspan(1)) {
    const auto d = static_cast<int>(out_sizes.size());
    out_sizes.push_back(size.Integer(0));
    if (out_sizes.back() < 0 || out_sizes.back() > i.shape().dim(d)) {
      return absl::InvalidArgumentError(
          absl::StrCat("size ", out_sizes.back(), " of dimension ", d,
                       " is beyond ", i.shape().ToString()));
    }
  }
  if (Product(in_sizes) != Product(out_sizes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Product(in_sizes), " elements cannot be ",
                     Product(out_sizes), " elements"));
  }
  const Value packed = PartOf(x, DimVector(in_sizes.size(), 0), in_sizes);
  Value out = Value::NewArray(ShapeOf(i));
  PutPart(packed.WithShape(Shape::Array(x.type(), out_sizes)),
          DimVector(out_sizes.size(), 0), &out);
  return out.WithSizes(out_sizes);
}

}  // namespace

bool AnyDynamic(absl::Span<const Value> operands) {
  for (const Value& x : operands) {
    if (x.sizes() != nullptr) return true;
  }
  return false;
}

Value FilledBeyondSizes(const Value& x, const uint8_t* element) {
  if (x.sizes() == nullptr) return x;
  const DimVector origin(x.shape().rank(), 0);
  Value out = Value::NewArray(x.shape_ref());
  Fill(out.Mutable(), element, x.element_bytes(), out.count());
  PutPart(PartOf(x, origin, *x.sizes()), origin, &out);
  return out;
}

absl::StatusOr<Value> EvalDynamic(const Instruction& i,
                                  absl::Span<Value> operands,
                                  const AllCount& evaluate) {
  const bool same_places = i.opcode() != Opcode::kBitcastConvert ||
                           i.shape().rank() == i.operand(0)->shape().rank();
  if ((i.IsElementwise() && same_places) || i.opcode() == Opcode::kMap) {
    return Elementwise(i, operands, evaluate);
  }
  if (auto moved = EvalDynamicMovement(i, operands, evaluate)) {
    return *std::move(moved);
  }
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return evaluate(operands);
    case Opcode::kBroadcast: {
      DimVector sizes = i.shape().dims();
      for (size_t k = 0; k < i.dimensions().size(); ++k) {
        sizes[i.dimensions()[k]] = (*operands[0].sizes())[k];
      }
      ASSIGN_OR_RETURN(const Value out, evaluate(operands));
      return out.WithSizes(sizes);
    }
    case Opcode::kTranspose: {
      DimVector sizes;
      for (int64_t d : i.dimensions()) {
        sizes.push_back((*operands[0].sizes())[d]);
      }
      ASSIGN_OR_RETURN(const Value out, evaluate(operands));
      return out.WithSizes(sizes);
    }
    case Opcode::kReduce:
      return Reduce(i, operands, evaluate);
    case Opcode::kDot:
      return DynamicDot(i, operands, evaluate);
    case Opcode::kReshape:
      return Reshape(i, operands[0]);
    case Opcode::kDynamicReshape:
      return DynamicReshape(i, operands);
    default:
      return Refused();
  }
}

absl::StatusOr<Value> EvalDynamicReshape(OpContext&, const Instruction& i,
                                         absl::Span<Value> operands) {
  return DynamicReshape(i, operands);
}

absl::StatusOr<Value> EvalGetDimensionSize(OpContext&, const Instruction& i,
                                           absl::Span<Value> operands) {
  const auto size =
      static_cast<int32_t>(SizesOf(operands[0])[i.dimensions()[0]]);
  return Value::NewSplat(ShapeOf(i), &size);
}

absl::StatusOr<Value> EvalSetDimensionSize(OpContext&, const Instruction& i,
                                           absl::Span<Value> operands) {
  DimVector sizes = SizesOf(operands[0]);
  const int64_t d = i.dimensions()[0];
  const int64_t bound = operands[0].shape().dim(static_cast<int>(d));
  sizes[d] = operands[1].Integer(0);
  if (sizes[d] < 0 || sizes[d] > bound) {
    return absl::InvalidArgumentError(
        absl::StrCat("size ", sizes[d], " is beyond the bound ", bound));
  }
  return operands[0].WithShape(ShapeOf(i)).WithSizes(sizes);
}

}  // namespace ptxla::hlo

// Operations in two halves (-start, -done), and what talks to the host.
#include "base/status.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

std::vector<Shape> BareOperands(const Args& a) {
  std::vector<Shape> shapes;
  for (const Shape* s : a.operands) shapes.push_back(WithoutLayout(*s));
  return shapes;
}

// An element of the tuple that a start makes.
Result Element(const Args& a, int i) {
  const Shape& x = a.operand(0);
  if (!x.IsTuple() || x.element_count_of_tuple() <= i) {
    return Fail("operand ", Text(x), " is not what ", OpcodeName(a.opcode),
                " ends");
  }
  return WithoutLayout(x.element(i));
}

// What is written must be a tuple with at least these parts in front.
absl::Status CheckParts(const Args& a, const std::vector<Shape>& parts,
                        const char* form) {
  const Shape& shape = *a.declared;
  bool fits = shape.IsTuple() &&
              shape.element_count_of_tuple() >= static_cast<int>(parts.size());
  for (size_t i = 0; fits && i < parts.size(); ++i) {
    fits = shape.element(static_cast<int>(i)).SameDimsAndType(parts[i]);
  }
  if (fits) return absl::OkStatus();
  return Fail(OpcodeName(a.opcode), " makes ", form, ", not ", Text(shape));
}

Result CopyStart(const Args& a) {
  const Shape x = BareOperands(a)[0];
  if (a.declared == nullptr) {
    return Shape::Tuple({x, x, Shape::Scalar(PrimitiveType::kU32)});
  }
  RETURN_IF_ERROR(CheckParts(a, {x, x}, "(copy, operand, context)"));
  return *a.declared;
}

// ((operands), results, context), of a wrapped computation.
Result AsyncStart(const Args& a) {
  ASSIGN_OR_RETURN(Shape shape, Declared(a));
  if (a.called.size() != 1 || a.called[0]->root() == nullptr) {
    return Fail("async-start calls one computation");
  }
  const Computation& wrapped = *a.called[0];
  if (wrapped.parameter_count() != a.operand_count()) {
    return Fail(wrapped.name(), " takes ", wrapped.parameter_count(),
                " parameters, not ", a.operand_count());
  }
  RETURN_IF_ERROR(CheckParts(
      a,
      {Shape::Tuple(BareOperands(a)), WithoutLayout(wrapped.root()->shape())},
      "((operands), results, context)"));
  return shape;
}

// (operands, results, ...).
Result CollectiveStart(const Args& a) {
  ASSIGN_OR_RETURN(Shape shape, Declared(a));
  if (a.operand_count() == 0) {
    return Fail(OpcodeName(a.opcode), " needs an operand");
  }
  // In place, operands also say where.
  const auto* permute = a.attrs<PermuteAttrs>();
  const bool in_place = permute != nullptr && !permute->slice_sizes.empty();
  std::vector<Shape> parts;
  if (!in_place) parts.push_back(OneOrTuple(BareOperands(a)));
  RETURN_IF_ERROR(CheckParts(a, parts, "(operands, results)"));
  if (shape.element_count_of_tuple() < 2) {
    return Fail(OpcodeName(a.opcode), " makes (operands, results), not ",
                Text(shape));
  }
  return shape;
}

Result Send(const Args& a) {
  const Shape data = BareOperands(a)[0];
  if (!a.operand(1).IsToken()) return Fail(Text(a.operand(1)), " is no token");
  if (a.declared == nullptr) {
    return Shape::Tuple(
        {data, Shape::Scalar(PrimitiveType::kU32), Shape::Token()});
  }
  RETURN_IF_ERROR(CheckParts(a, {data}, "(data, context, token)"));
  return *a.declared;
}

// (data, token) of a token, with a context in between for recv.
Result FromOutside(const Args& a, int parts, const char* form) {
  ASSIGN_OR_RETURN(Shape shape, Declared(a));
  if (!a.operand(0).IsToken()) return Fail(Text(a.operand(0)), " is no token");
  if (!shape.IsTuple() || shape.element_count_of_tuple() < parts) {
    return Fail(OpcodeName(a.opcode), " makes ", form, ", not ", Text(shape));
  }
  return shape;
}

}  // namespace

Result Async(const Args& a) {
  switch (a.opcode) {
    case Opcode::kAllReduceDone:
    case Opcode::kAsyncUpdate:
      return WithoutLayout(a.operand(0));
    case Opcode::kAllReduceStart: {
      const Shape shape = OneOrTuple(BareOperands(a));
      // A tuple of one is written by some passes.
      if (a.declared != nullptr && a.declared->IsTuple() && !shape.IsTuple()) {
        return Shape::Tuple({shape});
      }
      return shape;
    }
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return CollectiveStart(a);
    case Opcode::kAllGatherDone:
    case Opcode::kAsyncDone:
    case Opcode::kCollectivePermuteDone:
      return Element(a, 1);
    case Opcode::kCopyDone:
      return Element(a, 0);
    case Opcode::kCopyStart:
      return CopyStart(a);
    case Opcode::kAsyncStart:
      return AsyncStart(a);
    case Opcode::kSendDone:
      RETURN_IF_ERROR(Element(a, 1).status());
      return Shape::Token();
    case Opcode::kOutfeed:
      if (!a.operand(1).IsToken()) {
        return Fail(Text(a.operand(1)), " is no token");
      }
      if (const auto* attrs = a.attrs<OutfeedAttrs>();
          attrs != nullptr && !attrs->outfeed_shape.IsToken() &&
          !attrs->outfeed_shape.SameDimsAndType(a.operand(0))) {
        return Fail("outfeed_shape=", Text(attrs->outfeed_shape),
                    " is not that of operand ", Text(a.operand(0)));
      }
      return Shape::Token();
    case Opcode::kRecvDone: {
      ASSIGN_OR_RETURN(Shape data, Element(a, 0));
      return Shape::Tuple({data, Shape::Token()});
    }
    case Opcode::kSend:
      return Send(a);
    case Opcode::kInfeed:
      return FromOutside(a, 2, "(data, token)");
    default:  // recv
      return FromOutside(a, 3, "(data, context, token)");
  }
}

}  // namespace ptxla::hlo::infer

#include "base/status.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

std::vector<Shape> OperandShapes(const Args& a) {
  std::vector<Shape> shapes;
  for (const Shape* s : a.operands) {
    shapes.push_back(*s);
    shapes.back().clear_layout();
  }
  return shapes;
}

// all-gather and reduce-scatter change one dimension by a whole factor.
Result Scaled(const Args& a, bool grows) {
  ASSIGN_OR_RETURN(Shape result, Declared(a));
  const int64_t d = a.attrs<CollectiveAttrs>()->dimension;
  const auto results =
      result.IsTuple() ? result.elements() : absl::MakeConstSpan(&result, 1);
  if (static_cast<int>(results.size()) != a.operand_count()) {
    return Fail(a.operand_count(), " operands give ", results.size(),
                " results");
  }
  for (int n = 0; n < a.operand_count(); ++n) {
    const Shape &x = a.operand(n), &y = results[n];
    RETURN_IF_ERROR(CheckArray(x, "the operand"));
    bool fits = x.rank() == y.rank() && x.type() == y.type();
    if (d < 0 || d >= x.rank()) {
      return Fail("dimensions={", d, "} is not one of ", Text(x));
    }
    for (int i = 0; fits && i < x.rank(); ++i) {
      const int64_t small = grows ? x.dim(i) : y.dim(i);
      const int64_t large = grows ? y.dim(i) : x.dim(i);
      if (small < 0 || large < 0) continue;
      fits = i == d ? (small == 0 ? large == 0 : large % small == 0)
                    : small == large;
    }
    if (!fits) {
      return Fail(OpcodeName(a.opcode), " along dimension ", d, " of ", Text(x),
                  " cannot give ", Text(y));
    }
  }
  return result;
}

}  // namespace

Result Collective(const Args& a) {
  if (a.operand_count() == 0) {
    return Fail(OpcodeName(a.opcode), " needs an operand");
  }
  switch (a.opcode) {
    case Opcode::kAllGather:
      return Scaled(a, /*grows=*/true);
    case Opcode::kReduceScatter:
      return Scaled(a, /*grows=*/false);
    case Opcode::kAllToAll: {
      const int64_t d = a.attrs<CollectiveAttrs>()->dimension;
      if (d < 0) {
        // A tuple of one slice per device, also for one device.
        if (a.declared != nullptr && a.declared->IsTuple()) {
          return Shape::Tuple(OperandShapes(a));
        }
        return OneOrTuple(OperandShapes(a));
      }
      if (a.operand_count() != 1) {
        return Fail("all-to-all with dimensions= takes 1 operand, not ",
                    a.operand_count());
      }
      RETURN_IF_ERROR(CheckDims("dimensions=", {d}, a.operand(0).rank()));
      return OperandShapes(a)[0];
    }
    case Opcode::kRaggedAllToAll:
      return OperandShapes(a)[1];
    case Opcode::kCollectivePermute:
      // (input, output, input offsets, output offsets): in place.
      if (!a.attrs<PermuteAttrs>()->slice_sizes.empty()) {
        return OperandShapes(a)[1];
      }
      return OneOrTuple(OperandShapes(a));
    case Opcode::kAllReduce:
      if (a.declared != nullptr && a.declared->IsTuple() &&
          a.operand_count() == 1 && !a.operand(0).IsTuple()) {
        return Shape::Tuple(OperandShapes(a));
      }
      return OneOrTuple(OperandShapes(a));
    default:
      return OneOrTuple(OperandShapes(a));
  }
}

}  // namespace ptxla::hlo::infer

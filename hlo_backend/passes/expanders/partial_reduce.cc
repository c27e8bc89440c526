#include "hlo_backend/passes/expanders/partial_reduce.h"

#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/counting_indices.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

bool HasTheForm(const Instruction& i, int64_t dim) {
  if (i.operand_count() != 4 || !i.shape().IsTuple() ||
      i.shape().element_count_of_tuple() != 2 || i.called().empty() ||
      !CanApplyElementwise(*i.called()[0]) ||
      i.called()[0]->parameter_count() != 4) {
    return false;
  }
  const Shape& x = i.operand(0)->shape();
  const Shape& to = i.shape().element(0);
  if (!x.IsArray() || !to.IsArray() || dim < 0 || dim >= x.rank() ||
      to.rank() != x.rank() || !i.operand(2)->shape().IsScalar() ||
      i.operand(1)->shape().type() != kS32 ||
      !i.operand(1)->shape().SameDims(x) ||
      !i.shape().element(1).SameDims(to) || to.type() != x.type() ||
      i.shape().element(1).type() != kS32 || !CountsAlong(*i.operand(1), dim)) {
    return false;
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (d != dim && to.dim(d) != x.dim(d)) return false;
  }
  const int places = static_cast<int>(dim);
  return to.dim(places) > 0 && to.dim(places) < x.dim(places);
}

// Of two values the first by `before`, and of equal ones the lower position.
Computation* FirstOfTwo(Computation* before, PrimitiveType type) {
  Computation* c = before->module()->AddComputation("first_of_two");
  Builder b(c);
  Instruction* x = b.Parameter(0, Shape::Scalar(type));
  Instruction* at_x = b.Parameter(1, Shape::Scalar(kS32));
  Instruction* y = b.Parameter(2, Shape::Scalar(type));
  Instruction* at_y = b.Parameter(3, Shape::Scalar(kS32));
  Instruction* is_y = ApplyElementwise(*before, {y, x, at_y, at_x}, {}, c)[0];
  Instruction* lower = b.And(b.Compare(x, y, CompareDirection::kEq),
                             b.Compare(at_y, at_x, CompareDirection::kLt));
  Instruction* first = b.Not(b.Or(is_y, lower));
  c->SetRoot(b.Tuple({b.Select(first, x, y), b.Select(first, at_x, at_y)}));
  return c;
}

}  // namespace

Instruction* ReducedInPart(Instruction* call, int64_t dim) {
  if (!HasTheForm(*call, dim)) return nullptr;
  Builder b(call->parent());
  b.set_metadata(call->shared_metadata());
  Instruction* x = call->operand(0);
  const Shape& to = call->shape().element(0);
  const int d = static_cast<int>(dim);
  const int64_t places = to.dim(d);
  const int64_t rows = CeilOfRatio(x->shape().dim(d), places);
  if (const int64_t more = rows * places - x->shape().dim(d); more > 0) {
    PadAttrs pad;
    pad.dims.resize(x->shape().rank());
    pad.dims[d].high = more;
    x = b.Pad(x, call->operand(2), pad.dims);
  }
  DimVector dims(to.dims().begin(), to.dims().end());
  dims.insert(dims.begin() + dim, rows);
  Instruction* row = b.Iota(Shape::Array(kS32, dims), dim);
  Instruction* first =
      b.ReduceMany({b.Reshape(x, dims), row}, {call->operand(2), b.Zero(kS32)},
                   {dim}, FirstOfTwo(call->called()[0], x->shape().type()));
  // The position in x: rows of places follow one another there.
  Instruction* width = b.BroadcastScalar(
      b.ConstantScalar(kS32, static_cast<double>(places)), to.dims());
  Instruction* place = b.Iota(Shape::Array(kS32, to.dims()), dim);
  Instruction* position =
      b.Add(b.Multiply(b.GetTupleElement(first, 1), width), place);
  return b.Tuple({b.GetTupleElement(first, 0), position});
}

}  // namespace ptxla::hlo

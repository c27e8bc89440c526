#include <algorithm>

#include "base/status.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

// Element type of result `i` of the called computation, else `otherwise`.
PrimitiveType CalledType(const Args& a, int i, PrimitiveType otherwise) {
  if (a.called.empty() || a.called[0]->root() == nullptr) return otherwise;
  const Shape& root = a.called[0]->root()->shape();
  if (!root.IsTuple()) return root.type();
  return i < root.element_count_of_tuple() ? root.element(i).type() : otherwise;
}

// Operands are N arrays of equal dimensions, then N scalars.
absl::Status CheckHalves(const Args& a) {
  const int n = a.operand_count() / 2;
  if (n == 0 || a.operand_count() % 2 != 0) {
    return Fail(OpcodeName(a.opcode), " takes N arrays and N initial values, ",
                "not ", a.operand_count(), " operands");
  }
  for (int i = 0; i < n; ++i) {
    const Shape &x = a.operand(i), &init = a.operand(n + i);
    RETURN_IF_ERROR(CheckArray(x, "the operand"));
    if (!x.SameDims(a.operand(0))) {
      return Fail("operands ", Text(a.operand(0)), " and ", Text(x),
                  " have different dimensions");
    }
    if (!init.IsScalar()) {
      return Fail("initial value ", Text(init), " is not a scalar");
    }
    if (init.type() != x.type() &&
        !(IsFloat(init.type()) && IsFloat(x.type()))) {
      return Fail("initial value ", Text(init), " does not fit ", Text(x));
    }
  }
  return absl::OkStatus();
}

Result Reduce(const Args& a) {
  RETURN_IF_ERROR(CheckHalves(a));
  const DimVector& dims = a.attrs<DimensionsAttrs>()->dimensions;
  RETURN_IF_ERROR(CheckDims("dimensions=", dims, a.operand(0).rank()));
  std::vector<Shape> results;
  for (int n = 0; n < a.operand_count() / 2; ++n) {
    const Shape& x = a.operand(n);
    Shape shape = Shape::Array(CalledType(a, n, x.type()), {});
    for (int i = 0; i < x.rank(); ++i) {
      if (std::find(dims.begin(), dims.end(), i) != dims.end()) continue;
      shape.add_dim(x.dim(i));
      if (x.is_dynamic_dim(i)) shape.set_dynamic_dim(shape.rank() - 1, true);
    }
    results.push_back(std::move(shape));
  }
  return OneOrTuple(std::move(results));
}

absl::Status CheckWindow(const Window& window, const Shape& x) {
  if (static_cast<int>(window.dims.size()) != x.rank()) {
    return Fail("the window has ", window.dims.size(),
                " dimensions, the operand ", Text(x), " has ", x.rank());
  }
  for (const WindowDim& d : window.dims) {
    if (d.size < 1) {
      return Fail("the window ", window.ToString(), " has a size below 1");
    }
  }
  return CheckSteps(window);
}

DimVector WindowedDims(const Window& window, const Shape& x) {
  DimVector dims;
  for (int i = 0; i < x.rank(); ++i) {
    dims.push_back(x.dim(i) == Shape::kUnbounded
                       ? x.dim(i)
                       : window.dims[i].OutputSize(x.dim(i)));
  }
  return dims;
}

Result ReduceWindow(const Args& a) {
  RETURN_IF_ERROR(CheckHalves(a));
  const Window& window = a.attrs<WindowAttrs>()->window;
  RETURN_IF_ERROR(CheckWindow(window, a.operand(0)));
  std::vector<Shape> results;
  for (int n = 0; n < a.operand_count() / 2; ++n) {
    const Shape& x = a.operand(n);
    results.push_back(
        Shape::Array(CalledType(a, n, x.type()), WindowedDims(window, x)));
  }
  return OneOrTuple(std::move(results));
}

Result SelectAndScatter(const Args& a) {
  const Shape &x = a.operand(0), &source = a.operand(1);
  RETURN_IF_ERROR(CheckArray(x, "the operand"));
  const Window& window = a.attrs<WindowAttrs>()->window;
  RETURN_IF_ERROR(CheckWindow(window, x));
  if (source.dims() != WindowedDims(window, x)) {
    return Fail("source ", Text(source), " is not what the window makes of ",
                Text(x));
  }
  return Like(x, x.type());
}

Result SortLike(const Args& a) {
  if (a.opcode == Opcode::kTopK) {
    const TopKAttrs& t = *a.attrs<TopKAttrs>();
    Shape values = Like(a.operand(0), a.operand(0).type());
    if (values.rank() == 0 || t.k < 0 || t.k > values.dim(values.rank() - 1)) {
      return Fail("k=", t.k, " does not fit ", Text(values));
    }
    values.set_dim(values.rank() - 1, t.k);
    Shape indices = values;
    indices.set_type(PrimitiveType::kS32);
    return Shape::Tuple({values, indices});
  }
  const SortAttrs& s = *a.attrs<SortAttrs>();
  if (a.operand_count() == 0) return Fail("sort needs an operand");
  std::vector<Shape> results;
  for (const Shape* x : a.operands) {
    RETURN_IF_ERROR(CheckArray(*x, "the operand"));
    if (!x->SameDims(a.operand(0))) {
      return Fail("operands ", Text(a.operand(0)), " and ", Text(*x),
                  " have different dimensions");
    }
    results.push_back(Like(*x, x->type()));
  }
  if (s.dimension < 0 || s.dimension >= a.operand(0).rank()) {
    return Fail("dimension ", s.dimension, " is not one of ",
                Text(a.operand(0)));
  }
  return OneOrTuple(std::move(results));
}

// Inputs, then the carries: the body takes a slice of each input and them.
Result Scan(const Args& a) {
  ASSIGN_OR_RETURN(Shape shape, Declared(a));
  const auto* attrs = a.attrs<ScanAttrs>();
  if (attrs == nullptr || a.called.size() != 1) {
    return Fail("scan calls one computation");
  }
  const int inputs = a.operand_count() - static_cast<int>(attrs->num_carries);
  if (attrs->num_carries < 0 || inputs < 0) {
    return Fail("num_carries=", attrs->num_carries, " of ", a.operand_count(),
                " operands");
  }
  if (a.called[0]->parameter_count() != a.operand_count()) {
    return Fail(a.called[0]->name(), " takes ", a.called[0]->parameter_count(),
                " parameters, not ", a.operand_count());
  }
  for (int i = 0; i < inputs; ++i) {
    RETURN_IF_ERROR(
        CheckDims("dimensions=", attrs->dimensions, a.operand(i).rank()));
  }
  return shape;
}

}  // namespace

Result Reduction(const Args& a) {
  switch (a.opcode) {
    case Opcode::kReduce:
      return Reduce(a);
    case Opcode::kReduceWindow:
      return ReduceWindow(a);
    case Opcode::kSelectAndScatter:
      return SelectAndScatter(a);
    case Opcode::kMap: {
      if (a.operand_count() == 0) return Fail("map needs an operand");
      for (const Shape* x : a.operands) {
        RETURN_IF_ERROR(CheckArray(*x, "the operand"));
        if (!x->SameDims(a.operand(0))) {
          return Fail("operands ", Text(a.operand(0)), " and ", Text(*x),
                      " have different dimensions");
        }
      }
      return Like(a.operand(0), CalledType(a, 0, a.operand(0).type()));
    }
    case Opcode::kScan:
      return Scan(a);
    default:
      return SortLike(a);
  }
}

}  // namespace ptxla::hlo::infer

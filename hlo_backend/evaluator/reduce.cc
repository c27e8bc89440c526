// reduce and map. A reducer that is one sum, product, minimum or maximum runs
// over the array once, in memory order; any other runs as a program on one
// slice of the kept elements after the other.
#include "hlo_backend/evaluator/reduce.h"

#include <algorithm>

#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// Dimensions of the operand with neighbours of the same kind merged.
struct ReduceDim {
  int64_t size;
  bool reduced;
};

absl::InlinedVector<ReduceDim, 6> MergedDims(const Shape& shape,
                                             absl::Span<const int64_t> gone) {
  absl::InlinedVector<ReduceDim, 6> dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 1) continue;
    const bool reduced = std::find(gone.begin(), gone.end(), d) != gone.end();
    if (!dims.empty() && dims.back().reduced == reduced) {
      dims.back().size *= shape.dim(d);
    } else {
      dims.push_back({shape.dim(d), reduced});
    }
  }
  if (dims.empty()) dims.push_back({1, false});
  return dims;
}

// Calls row(from, kept, length, reduced) for every innermost row: `from` is the
// place of its first element, `kept` that of its (first) result.
template <class Row>
void ForEachRow(absl::Span<const ReduceDim> dims, Row row) {
  DimVector outer;
  DimVector kept_strides;
  const ReduceDim inner = dims.back();
  int64_t kept_stride = inner.reduced ? 1 : inner.size;
  for (size_t d = dims.size() - 1; d-- > 0;) {
    outer.insert(outer.begin(), dims[d].size);
    kept_strides.insert(kept_strides.begin(),
                        dims[d].reduced ? 0 : kept_stride);
    if (!dims[d].reduced) kept_stride *= dims[d].size;
  }
  int64_t from = 0;
  for (Odometer o(outer); !o.done(); o.Next()) {
    row(from, Dot(o.index(), kept_strides), inner.size, inner.reduced);
    from += inner.size;
  }
}

template <class T, class Acc, class F>
struct SimpleReduce {
  static void Run(const T* x, Acc* acc, absl::Span<const ReduceDim> dims) {
    ForEachRow(dims, [&](int64_t from, int64_t kept, int64_t n, bool reduced) {
      const F f{};
      const T* row = x + from;
      if (!reduced) {
        Acc* to = acc + kept;
        for (int64_t k = 0; k < n; ++k) {
          to[k] = f(to[k], static_cast<Acc>(row[k]));
        }
        return;
      }
      // Four chains, so that an addition need not wait for the one before.
      Acc value = acc[kept];
      if (n >= 8) {
        Acc a = static_cast<Acc>(row[0]);
        Acc b = static_cast<Acc>(row[1]);
        Acc c = static_cast<Acc>(row[2]);
        Acc d = static_cast<Acc>(row[3]);
        int64_t k = 4;
        for (; k + 4 <= n; k += 4) {
          a = f(a, static_cast<Acc>(row[k]));
          b = f(b, static_cast<Acc>(row[k + 1]));
          c = f(c, static_cast<Acc>(row[k + 2]));
          d = f(d, static_cast<Acc>(row[k + 3]));
        }
        for (; k < n; ++k) a = f(a, static_cast<Acc>(row[k]));
        value = f(value, f(f(a, b), f(c, d)));
      } else {
        for (int64_t k = 0; k < n; ++k)
          value = f(value, static_cast<Acc>(row[k]));
      }
      acc[kept] = value;
    });
  }
};

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return (a >= b || a != a) ? a : b;
  }
};
struct Less {
  template <class T>
  T operator()(T a, T b) const {
    return (a <= b || a != a) ? a : b;
  }
};

// The operand already widened to T; sums in Acc.
template <class T, class Acc>
absl::StatusOr<Value> ReduceWide(Opcode opcode, const Value& x,
                                 const Value& init, const Shape& shape,
                                 PrimitiveType acc_type,
                                 absl::Span<const int64_t> gone) {
  ASSIGN_OR_RETURN(const Value start, ConvertTo(init, acc_type));
  Shape acc_shape = shape;
  acc_shape.set_type(acc_type);
  Value acc = Value::NewSplat(acc_shape, start.data()).Dense();
  Acc* to = acc.template MutableAs<Acc>();
  const T* from = x.as<T>();
  const auto dims = MergedDims(x.shape(), gone);
  switch (opcode) {
    case Opcode::kAdd:
      SimpleReduce<T, Acc, Plus>::Run(from, to, dims);
      break;
    case Opcode::kMultiply:
      SimpleReduce<T, Acc, Multiply>::Run(from, to, dims);
      break;
    case Opcode::kMaximum:
      SimpleReduce<T, Acc, Greater>::Run(from, to, dims);
      break;
    default:
      SimpleReduce<T, Acc, Less>::Run(from, to, dims);
      break;
  }
  return ConvertTo(acc, shape.type());
}

bool IsSimple(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kMultiply ||
         opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
}

absl::StatusOr<Value> ReduceSimple(Opcode opcode, const Value& operand,
                                   const Value& init, const Shape& shape,
                                   absl::Span<const int64_t> gone,
                                   BufferPool* pool) {
  const Value dense = operand.Dense(pool);
  const PrimitiveType type = dense.type();
  if (type == PrimitiveType::kF64) {
    return ReduceWide<double, double>(opcode, dense, init, shape, type, gone);
  }
  if (IsFloat(type)) {
    ASSIGN_OR_RETURN(const Value wide,
                     ConvertTo(dense, PrimitiveType::kF32, pool));
    return ReduceWide<float, double>(opcode, wide, init, shape,
                                     PrimitiveType::kF64, gone);
  }
  // Integers: wrapping sums and products are the same in 64 bits, and so are
  // minima and maxima of all but u64.
  if (type == PrimitiveType::kU64) {
    return ReduceWide<uint64_t, uint64_t>(opcode, dense, init, shape, type,
                                          gone);
  }
  if (type == PrimitiveType::kS32) {
    // Sums of int64 cannot overflow, and their low words are the wrapped sums.
    if (opcode != Opcode::kMultiply) {
      return ReduceWide<int32_t, int64_t>(opcode, dense, init, shape,
                                          PrimitiveType::kS64, gone);
    }
  }
  if (opcode == Opcode::kMaximum || opcode == Opcode::kMinimum) {
    ASSIGN_OR_RETURN(const Value wide,
                     ConvertTo(dense, PrimitiveType::kS64, pool));
    return ReduceWide<int64_t, int64_t>(opcode, wide, init, shape,
                                        PrimitiveType::kS64, gone);
  }
  ASSIGN_OR_RETURN(const Value wide,
                   ConvertTo(dense, PrimitiveType::kU64, pool));
  ASSIGN_OR_RETURN(const Value start, ConvertTo(init, PrimitiveType::kU64));
  return ReduceWide<uint64_t, uint64_t>(opcode, wide, start, shape,
                                        PrimitiveType::kU64, gone);
}

// Reduced dimensions first, then the kept ones.
Value ReducedFirst(const Value& x, absl::Span<const int64_t> gone,
                   int64_t* reduced_count) {
  const DimVector strides = RowMajorStrides(x.shape().dims());
  DimVector dims;
  DimVector from;
  *reduced_count = 1;
  for (int pass = 0; pass < 2; ++pass) {
    for (int d = 0; d < x.shape().rank(); ++d) {
      const bool reduced = std::find(gone.begin(), gone.end(), d) != gone.end();
      if (reduced != (pass == 0)) continue;
      dims.push_back(x.shape().dim(d));
      from.push_back(strides[d]);
      if (reduced) *reduced_count *= x.shape().dim(d);
    }
  }
  const Value dense = x.Dense();
  Value out = Value::NewArray(Shape::Array(x.type(), dims));
  CopyBox(dims, out.Mutable(), RowMajorStrides(dims), dense.data(), from,
          x.element_bytes());
  return out;
}

}  // namespace

absl::StatusOr<std::vector<Value>> ReduceByProgram(
    const ScalarProgram& program, absl::Span<const Value> operands,
    absl::Span<const Value> inits, absl::Span<const Shape> results,
    absl::Span<const int64_t> dimensions) {
  const size_t arrays = operands.size();
  std::vector<Value> slices;
  std::vector<Value> acc;
  int64_t steps = 1;
  for (size_t j = 0; j < arrays; ++j) {
    slices.push_back(ReducedFirst(operands[j], dimensions, &steps));
    acc.push_back(Value::NewSplat(results[j], inits[j].data()).Dense());
  }
  const int64_t n = acc[0].count();
  std::vector<const void*> in(2 * arrays);
  std::vector<void*> out(arrays);
  const absl::InlinedVector<bool, 8> splat(2 * arrays, false);
  for (size_t j = 0; j < arrays; ++j) {
    out[j] = acc[j].Mutable();
    in[j] = out[j];
  }
  for (int64_t k = 0; k < steps; ++k) {
    for (size_t j = 0; j < arrays; ++j) {
      in[arrays + j] = slices[j].data() + k * n * slices[j].element_bytes();
    }
    program.Run(in, splat, out, n);
  }
  return acc;
}

absl::StatusOr<Value> EvalReduce(OpContext& context, const Instruction& i,
                                 absl::Span<Value> operands) {
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  if (operands.size() == 2 && program->binary_op().has_value()) {
    const Opcode opcode = *program->binary_op();
    const PrimitiveType type = operands[0].type();
    if (IsSimple(opcode) && (IsFloat(type) || IsInteger(type))) {
      Shape shape = i.shape();
      if (shape.IsTuple()) shape = shape.element(0);
      ASSIGN_OR_RETURN(Value out,
                       ReduceSimple(opcode, operands[0], operands[1], shape,
                                    i.dimensions(), context.pool()));
      out = out.WithShape(shape);
      return i.shape().IsTuple() ? Value::NewTuple(ShapeOf(i), {out}) : out;
    }
  }
  const size_t arrays = operands.size() / 2;
  std::vector<Shape> shapes;
  for (size_t j = 0; j < arrays; ++j) {
    shapes.push_back(i.shape().IsTuple() ? i.shape().element(j) : i.shape());
  }
  ASSIGN_OR_RETURN(
      std::vector<Value> results,
      ReduceByProgram(*program, operands.subspan(0, arrays),
                      operands.subspan(arrays), shapes, i.dimensions()));
  if (i.shape().IsTuple()) {
    return Value::NewTuple(ShapeOf(i), std::move(results));
  }
  return results[0];
}

absl::StatusOr<Value> EvalMap(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  Value out = Value::NewArray(ShapeOf(i));
  std::vector<const void*> in;
  absl::InlinedVector<bool, 8> splat;
  for (const Value& x : operands) {
    in.push_back(x.data());
    splat.push_back(x.IsSplat());
  }
  void* to = out.Mutable();
  program->Run(in, splat, absl::MakeConstSpan(&to, 1), out.count());
  return out;
}

}  // namespace ptxla::hlo

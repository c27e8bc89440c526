// reduce-window and select-and-scatter: for each place in the window one pass
// over all outputs whose window place lies inside the operand, row by row.
#include <algorithm>

#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// Along one dimension: the input index that output `o` sees at window place
// `w`, or -1 if it is padding or a hole of the dilated base.
int64_t InputIndex(const WindowDim& window, int64_t o, int64_t w,
                   int64_t size) {
  const int64_t at =
      o * window.stride + w * window.window_dilation - window.padding_low;
  if (at < 0 || at % window.base_dilation != 0) return -1;
  const int64_t index = at / window.base_dilation;
  return index < size ? index : -1;
}

// Calls fn(first_out, first_in, in_step, n) for runs of outputs along the last
// dimension that see inputs first_in, first_in + in_step, ...
template <class Fn>
void ForEachRun(const Window& window, const DimVector& place,
                const DimVector& out_dims, const DimVector& in_dims, Fn fn) {
  const int rank = static_cast<int>(out_dims.size());
  const DimVector out_strides = RowMajorStrides(out_dims);
  const DimVector in_strides = RowMajorStrides(in_dims);
  const WindowDim& last = window.dims[rank - 1];
  const int64_t n = out_dims[rank - 1];
  const DimVector outer(out_dims.begin(), out_dims.end() - 1);
  for (Odometer o(outer); !o.done(); o.Next()) {
    int64_t at_out = 0;
    int64_t at_in = 0;
    bool inside = true;
    for (int d = 0; d + 1 < rank && inside; ++d) {
      const int64_t index =
          InputIndex(window.dims[d], o.index()[d], place[d], in_dims[d]);
      inside = index >= 0;
      at_out += o.index()[d] * out_strides[d];
      at_in += index * in_strides[d];
    }
    if (!inside) continue;
    if (last.base_dilation == 1) {
      // Inside for all k with 0 <= k * stride + offset < size.
      const int64_t offset =
          place[rank - 1] * last.window_dilation - last.padding_low;
      const int64_t begin =
          offset >= 0 ? 0 : (-offset + last.stride - 1) / last.stride;
      const int64_t room = in_dims[rank - 1] - 1 - offset;
      const int64_t end = room < 0 ? 0 : std::min(n, room / last.stride + 1);
      if (begin < end) {
        fn(at_out + begin, at_in + begin * last.stride + offset, last.stride,
           end - begin);
      }
      continue;
    }
    for (int64_t k = 0; k < n; ++k) {
      const int64_t index =
          InputIndex(last, k, place[rank - 1], in_dims[rank - 1]);
      if (index >= 0) fn(at_out + k, at_in + index, 1, 1);
    }
  }
}

DimVector WindowSizes(const Window& window) {
  DimVector sizes;
  for (const WindowDim& d : window.dims) sizes.push_back(d.size);
  return sizes;
}

template <class T, class F>
void Accumulate(T* out, const T* in, int64_t step, int64_t n) {
  const F f{};
  for (int64_t k = 0; k < n; ++k) out[k] = f(out[k], in[k * step]);
}
struct Plus {
  double operator()(double a, double b) const { return a + b; }
};
struct Greater {
  double operator()(double a, double b) const {
    return (a >= b || a != a) ? a : b;
  }
};
struct Less {
  double operator()(double a, double b) const {
    return (a <= b || a != a) ? a : b;
  }
};

}  // namespace

absl::StatusOr<Value> EvalReduceWindow(OpContext& context, const Instruction& i,
                                       absl::Span<Value> operands) {
  const Window& window = i.attrs<WindowAttrs>().window;
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  const size_t arrays = operands.size() / 2;
  const Shape& first = i.shape().IsTuple() ? i.shape().element(0) : i.shape();
  if (first.rank() == 0) {
    return absl::UnimplementedError("reduce-window of a scalar");
  }
  const DimVector& in_dims = operands[0].shape().dims();

  const auto op = program->binary_op();
  const bool simple = arrays == 1 && IsFloat(operands[0].type()) &&
                      op.has_value() &&
                      (*op == Opcode::kAdd || *op == Opcode::kMaximum ||
                       *op == Opcode::kMinimum);
  std::vector<Value> acc;
  std::vector<Value> in;
  for (size_t j = 0; j < arrays; ++j) {
    const Shape& shape = i.shape().IsTuple() ? i.shape().element(j) : i.shape();
    Value init = operands[arrays + j];
    Value x = operands[j].Dense();
    Shape acc_shape = shape;
    if (simple) {
      acc_shape.set_type(PrimitiveType::kF64);
      ASSIGN_OR_RETURN(init, ConvertTo(init, PrimitiveType::kF64));
      ASSIGN_OR_RETURN(x, ConvertTo(x, PrimitiveType::kF64));
    }
    acc.push_back(Value::NewSplat(acc_shape, init.data()).Dense());
    in.push_back(std::move(x));
  }
  std::vector<uint8_t*> outs;
  outs.reserve(acc.size());
  for (Value& a : acc) outs.push_back(a.Mutable());
  std::vector<const void*> from(2 * arrays);
  std::vector<void*> to(arrays);
  const absl::InlinedVector<bool, 8> splat(2 * arrays, false);
  auto run = [&](int64_t out, int64_t first_in, int64_t step, int64_t n) {
    if (simple) {
      double* o = reinterpret_cast<double*>(outs[0]) + out;
      const double* x = in[0].as<double>() + first_in;
      if (*op == Opcode::kAdd) return Accumulate<double, Plus>(o, x, step, n);
      if (*op == Opcode::kMaximum) {
        return Accumulate<double, Greater>(o, x, step, n);
      }
      return Accumulate<double, Less>(o, x, step, n);
    }
    const int64_t chunk = step == 1 ? n : 1;
    for (int64_t k = 0; k < n; k += chunk) {
      for (size_t j = 0; j < arrays; ++j) {
        const int bytes = in[j].element_bytes();
        to[j] = outs[j] + (out + k) * bytes;
        from[j] = to[j];
        from[arrays + j] = in[j].data() + (first_in + k * step) * bytes;
      }
      program->Run(from, splat, to, chunk);
    }
  };
  for (Odometer place(WindowSizes(window)); !place.done(); place.Next()) {
    ForEachRun(window, place.index(), first.dims(), in_dims, run);
  }
  if (simple) {
    ASSIGN_OR_RETURN(acc[0], ConvertTo(acc[0], first.type()));
    acc[0] = acc[0].WithShape(first);
  }
  if (!i.shape().IsTuple()) return acc[0];
  return Value::NewTuple(ShapeOf(i), std::move(acc));
}

absl::StatusOr<Value> EvalSelectAndScatter(OpContext& context,
                                           const Instruction& i,
                                           absl::Span<Value> operands) {
  const Window& window = i.attrs<WindowAttrs>().window;
  ASSIGN_OR_RETURN(const ScalarProgram* select, context.Program(*i.select()));
  ASSIGN_OR_RETURN(const ScalarProgram* scatter, context.Program(*i.scatter()));
  const Value x = operands[0].Dense();
  const Value source = operands[1].Dense();
  const int bytes = x.element_bytes();
  if (source.shape().rank() == 0) {
    return absl::UnimplementedError("select-and-scatter of a scalar");
  }
  // Which element each window chose; -1: none yet.
  std::vector<int64_t> chosen(source.count(), -1);
  for (Odometer place(WindowSizes(window)); !place.done(); place.Next()) {
    ForEachRun(window, place.index(), source.shape().dims(), x.shape().dims(),
               [&](int64_t out, int64_t in, int64_t step, int64_t n) {
                 for (int64_t k = 0; k < n; ++k) {
                   int64_t& best = chosen[out + k];
                   const int64_t candidate = in + k * step;
                   if (best < 0) {
                     best = candidate;
                     continue;
                   }
                   // select(best, candidate): keep the best.
                   const void* pair[2] = {x.data() + best * bytes,
                                          x.data() + candidate * bytes};
                   const bool splat[2] = {false, false};
                   uint8_t keep = 0;
                   void* result = &keep;
                   select->Run(pair, splat, absl::MakeConstSpan(&result, 1), 1);
                   if (!keep) best = candidate;
                 }
               });
  }
  Value out = Value::NewSplat(ShapeOf(i), operands[2].data()).Dense();
  uint8_t* to = out.Mutable();
  for (int64_t k = 0; k < source.count(); ++k) {
    if (chosen[k] < 0) continue;
    void* target = to + chosen[k] * bytes;
    const void* pair[2] = {target, source.data() + k * bytes};
    const bool splat[2] = {false, false};
    scatter->Run(pair, splat, absl::MakeConstSpan(&target, 1), 1);
  }
  return out;
}

}  // namespace ptxla::hlo

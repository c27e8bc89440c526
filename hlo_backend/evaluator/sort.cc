#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "base/status.h"
#include "hlo_backend/evaluator/fill.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// Integer keys whose order is the comparison's: the element itself, or the
// bits of a float in total order. False: there are none.
template <class T, class Bits>
bool FloatKeys(const Value& x, bool total_order, std::vector<int64_t>* keys) {
  for (int64_t k = 0; k < x.count(); ++k) {
    T value = x.as<T>()[k];
    // A plain comparison with NaN is no order; leave it to the program.
    if (!total_order && value != value) return false;
    if (!total_order && value == 0) value = 0;
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    (*keys)[k] = bits < 0 ? bits ^ std::numeric_limits<Bits>::max() : bits;
  }
  return true;
}

bool KeysOf(const Value& x, bool total_order, std::vector<int64_t>* keys) {
  keys->resize(x.count());
  if (IsInteger(x.type()) || x.type() == PrimitiveType::kPred) {
    const bool shifted = x.type() == PrimitiveType::kU64;
    for (int64_t k = 0; k < x.count(); ++k) {
      (*keys)[k] = shifted ? x.Integer(k) ^ INT64_MIN : x.Integer(k);
    }
    return true;
  }
  if (!IsFloat(x.type())) return false;
  const bool is_double = x.type() == PrimitiveType::kF64;
  auto wide =
      ConvertTo(x, is_double ? PrimitiveType::kF64 : PrimitiveType::kF32);
  if (!wide.ok()) return false;
  return is_double
             ? FloatKeys<double, int64_t>(wide->Dense(), total_order, keys)
             : FloatKeys<float, int32_t>(wide->Dense(), total_order, keys);
}

}  // namespace

// Sorting is stable whether or not that is asked for: one result everywhere.
absl::StatusOr<Value> EvalSort(OpContext& context, const Instruction& i,
                               absl::Span<Value> operands) {
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  const size_t arrays = operands.size();
  const Shape& shape = operands[0].shape();
  std::vector<Value> in;
  std::vector<Value> out;
  for (size_t j = 0; j < arrays; ++j) {
    in.push_back(operands[j].Dense());
    out.push_back(Value::NewArray(operands[j].shape_ref()));
  }
  const int64_t d = i.attrs<SortAttrs>().dimension;
  const int64_t n = shape.rank() == 0 ? 1 : shape.dim(static_cast<int>(d));
  const DimVector strides = RowMajorStrides(shape.dims());
  const int64_t stride = shape.rank() == 0 ? 1 : strides[d];

  std::vector<int64_t> keys;
  bool ascending = true;
  bool by_key = false;
  if (const auto& c = program->comparison();
      c.has_value() && c->direction != CompareDirection::kEq &&
      c->direction != CompareDirection::kNe && c->first_input % 2 == 0) {
    ascending = c->direction == CompareDirection::kLt ||
                c->direction == CompareDirection::kLe;
    const Value& source = in[c->first_input / 2];
    Shape key_shape = source.shape();
    key_shape.set_type(c->key_type);
    Value key = Value::NewArray(key_shape);
    program->RunKey(source.data(), key.Mutable(), key.count());
    by_key = KeysOf(key, c->total_order, &keys);
  }
  std::vector<const void*> pair(2 * arrays);
  const absl::InlinedVector<bool, 8> splat(2 * arrays, false);
  auto by_program = [&](int64_t a, int64_t b) {
    for (size_t j = 0; j < arrays; ++j) {
      pair[2 * j] = in[j].element(a);
      pair[2 * j + 1] = in[j].element(b);
    }
    uint8_t less = 0;
    void* result = &less;
    program->Run(pair, splat, absl::MakeConstSpan(&result, 1), 1);
    return less != 0;
  };
  std::vector<int64_t> order(n);
  DimVector outer = shape.dims();
  if (shape.rank() > 0) outer[d] = 1;
  for (Odometer o(outer); !o.done(); o.Next()) {
    const int64_t base = Dot(o.index(), strides);
    for (int64_t k = 0; k < n; ++k) order[k] = base + k * stride;
    if (by_key && ascending) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    } else if (by_key) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
    } else {
      std::stable_sort(order.begin(), order.end(), by_program);
    }
    for (size_t j = 0; j < arrays; ++j) {
      const int bytes = in[j].element_bytes();
      uint8_t* to = out[j].Mutable();
      for (int64_t k = 0; k < n; ++k) {
        std::memcpy(to + (base + k * stride) * bytes, in[j].element(order[k]),
                    bytes);
      }
    }
  }
  if (!i.shape().IsTuple()) return out[0];
  return Value::NewTuple(ShapeOf(i), std::move(out));
}

// (values, s32 indices) of the k largest or smallest of the last dimension;
// equal values in order of their index, NaN above all numbers.
absl::StatusOr<Value> EvalTopK(OpContext&, const Instruction& i,
                               absl::Span<Value> operands) {
  const Value x = operands[0].Dense();
  const bool largest =
      i.opcode() != Opcode::kTopK || i.attrs<TopKAttrs>().largest;
  const Shape& values_shape = i.shape().element(0);
  const int last = x.shape().rank() - 1;
  const int64_t n = x.shape().dim(last);
  const int64_t k = values_shape.dim(last);
  std::vector<int64_t> keys;
  if (!KeysOf(x, true, &keys)) {
    return absl::UnimplementedError(
        absl::StrCat("topk of ", PrimitiveTypeName(x.type())));
  }
  Value values = Value::NewArray(values_shape);
  Value indices = Value::NewArray(i.shape().element(1));
  if (indices.type() != PrimitiveType::kS32) {
    return absl::UnimplementedError("topk with indices other than s32");
  }
  uint8_t* to = values.Mutable();
  int32_t* to_index = indices.MutableAs<int32_t>();
  std::vector<int64_t> order(n);
  for (int64_t row = 0; row * n < x.count(); ++row) {
    std::iota(order.begin(), order.end(), 0);
    const int64_t* key = keys.data() + row * n;
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](int64_t a, int64_t b) {
                        if (key[a] != key[b]) {
                          return largest ? key[a] > key[b] : key[a] < key[b];
                        }
                        return a < b;
                      });
    for (int64_t j = 0; j < k; ++j) {
      std::memcpy(to + (row * k + j) * x.element_bytes(),
                  x.element(row * n + order[j]), x.element_bytes());
      to_index[row * k + j] = static_cast<int32_t>(order[j]);
    }
  }
  return Value::NewTuple(ShapeOf(i), {std::move(values), std::move(indices)});
}

}  // namespace ptxla::hlo

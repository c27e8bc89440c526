#include "tests/properties/random_hlo_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::testing {
namespace {

std::string ShapeText(const std::string& type, const Dims& dims) {
  return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]");
}

}  // namespace

int64_t ElementsOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

std::string DimsText(const Dims& dims) {
  return absl::StrCat("{", absl::StrJoin(dims, ","), "}");
}

int64_t HloWriter::Size(int64_t limit) {
  static const std::vector<int64_t> kSizes = {
      1, 7, 127, 129, 1000, 1, 7, 8, 16, 64, 128, 256, 384, 512, 33, 100};
  while (true) {
    const int64_t size = Pick(kSizes);
    if (size <= limit) return size;
  }
}

Dims HloWriter::RandomDims(int rank, int64_t elements) {
  Dims dims(rank, 1);
  // In random order, so that no dimension is always the large one.
  Dims order;
  for (int d = 0; d < rank; ++d) order.insert(order.begin() + Below(d + 1), d);
  for (int64_t d : order) {
    dims[d] = Size(elements);
    elements /= dims[d];
  }
  return dims;
}

Value HloWriter::Parameter(const std::string& type, const Dims& dims) {
  if (type == "bf16") coarse_ = true;
  const int number = parameters_++;
  return Op(type, dims, absl::StrCat("parameter(", number, ")"), {});
}

Value HloWriter::Scalar(const std::string& type, const std::string& value) {
  return Op(type, {}, absl::StrCat("constant(", value, ")"), {});
}

Value HloWriter::Op(const std::string& type, const Dims& dims,
                    absl::string_view op, const std::vector<Value>& operands,
                    const std::string& attributes) {
  Value v;
  v.name = absl::StrCat("v", next_++);
  v.type = type;
  v.dims = dims;
  std::vector<std::string> names;
  for (const Value& o : operands) {
    names.push_back(o.name);
    v.exact = v.exact && o.exact;
  }
  const std::string call =
      operands.empty() && op.back() == ')'
          ? std::string(op)
          : absl::StrCat(op, "(", absl::StrJoin(names, ", "), ")");
  absl::StrAppend(&body_, "  ", v.name, " = ", ShapeText(type, dims), " ", call,
                  attributes, "\n");
  return v;
}

Value HloWriter::Convert(const Value& x, const std::string& type) {
  if (x.type == type) return x;
  Value v = Op(type, x.dims, "convert", {x});
  if (type == "bf16") {
    coarse_ = true;
    // A compiler may keep more bits than bf16 has.
    v.exact = false;
  }
  return v;
}

Value HloWriter::Broadcast(const Value& x, const Dims& dims, const Dims& at) {
  return Op(x.type, dims, "broadcast", {x},
            absl::StrCat(", dimensions=", DimsText(at)));
}

Value HloWriter::Companion(const Value& like) {
  const std::string& type = like.type;
  const int rank = static_cast<int>(like.dims.size());
  switch (Below(5)) {
    case 0:
      return Broadcast(Scalar(type, type == "pred"    ? "true"
                                    : like.is_float() ? "0.75"
                                                      : "3"),
                       like.dims, {});
    case 1:
      return Broadcast(Parameter(type, {}), like.dims, {});
    case 2:
    case 3:
      if (rank >= 2) {
        const int64_t at = Below(rank);
        return Broadcast(Parameter(type, {like.dims[at]}), like.dims, {at});
      }
      return Parameter(type, like.dims);
    default:
      return Parameter(type, like.dims);
  }
}

std::string HloWriter::Reducer(const std::string& op, const std::string& type) {
  const std::string name = absl::StrCat(op, "_", type);
  if (reducers_.insert(name).second) {
    absl::StrAppend(&computations_, name, " {\n  x = ", type,
                    "[] parameter(0)\n  y = ", type,
                    "[] parameter(1)\n  ROOT r = ", type, "[] ", op,
                    "(x, y)\n}\n\n");
  }
  return name;
}

Value HloWriter::Reduce(const Value& x, const Dims& over,
                        const std::string& op) {
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(x.dims.size()); ++d) {
    if (std::find(over.begin(), over.end(), d) == over.end()) {
      kept.push_back(x.dims[d]);
    }
  }
  std::string init = "0";
  if (op == "maximum") init = x.is_float() ? "-inf" : "-2147483648";
  if (op == "minimum") init = x.is_float() ? "inf" : "2147483647";
  Value v = Op(x.type, kept, "reduce", {x, Scalar(x.type, init)},
               absl::StrCat(", dimensions=", DimsText(over),
                            ", to_apply=", Reducer(op, x.type)));
  // The order of a floating-point sum is the machine's.
  if (x.is_float() && op == "add") v.exact = false;
  return v;
}

Value HloWriter::FloatStep(const Value& x) {
  const auto bounded = [&](const Value& v) {  // |v| + 1
    return Op(v.type, v.dims, "add",
              {Op(v.type, v.dims, "abs", {v}),
               Broadcast(Scalar(v.type, "1"), v.dims, {})});
  };
  Value v;
  switch (Below(16)) {
    case 0:
    case 1:
      v = Op(x.type, x.dims, "add", {x, Companion(x)});
      break;
    case 2:
      v = Op(x.type, x.dims, "subtract", {Companion(x), x});
      break;
    case 3:
    case 4:
      v = Op(x.type, x.dims, "multiply", {x, Companion(x)});
      break;
    case 5:
      v = Op(x.type, x.dims, "divide", {x, bounded(Companion(x))});
      break;
    case 6:
      v = Op(x.type, x.dims, "tanh", {x});
      break;
    case 7:
      v = Op(x.type, x.dims, "exponential",
             {Op(x.type, x.dims, "negate", {Op(x.type, x.dims, "abs", {x})})});
      break;
    case 8:
      v = Op(x.type, x.dims, "log", {bounded(x)});
      break;
    case 9:
      v = Op(x.type, x.dims, OneIn(2) ? "rsqrt" : "sqrt", {bounded(x)});
      break;
    case 10:
      v = Op(x.type, x.dims, "logistic", {x});
      break;
    case 11:
      return Op(x.type, x.dims, OneIn(2) ? "maximum" : "minimum",
                {x, Companion(x)});
    case 12:
      return Op(x.type, x.dims, "clamp",
                {Scalar(x.type, "-1.5"), x, Scalar(x.type, "1.25")});
    case 13: {
      const Value a = Companion(x), b = Companion(x);
      const Value p = Op("pred", x.dims, "compare", {a, b},
                         absl::StrCat(", direction=", OneIn(2) ? "GT" : "LE"));
      Value s = Op(x.type, x.dims, "select", {p, x, b});
      s.exact = x.exact && b.exact;
      return s;
    }
    case 14:
      return Convert(x, x.type == "f32" ? "bf16" : "f32");
    default:
      return Op(x.type, x.dims, "abs", {Op(x.type, x.dims, "negate", {x})});
  }
  v.exact = false;
  return v;
}

Value HloWriter::IntegerStep(const Value& x) {
  static const std::vector<std::string> kOps = {
      "add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"};
  switch (Below(4)) {
    case 0:
      return Convert(x, "f32");
    case 1: {
      const Value p =
          Op("pred", x.dims, "compare", {x, Companion(x)}, ", direction=LT");
      return Op(x.type, x.dims, "select", {p, x, Companion(x)});
    }
    default:
      return Op(x.type, x.dims, Pick(kOps), {x, Companion(x)});
  }
}

Value HloWriter::Step(const Value& x) {
  if (x.is_float()) return FloatStep(x);
  if (x.is_integer()) return IntegerStep(x);
  return OneIn(2) ? Op("pred", x.dims, "not", {x}) : Convert(x, "f32");
}

Value HloWriter::Chain(Value x, int n) {
  for (int k = 0; k < n; ++k) x = Step(x);
  return x;
}

std::string HloWriter::Module(const std::string& name,
                              const std::vector<Value>& results) const {
  std::string root = "  ROOT root = ";
  if (results.size() == 1) {
    // A name of its own, for results that are used elsewhere too.
    const Value& r = results[0];
    absl::StrAppend(&root, "(", ShapeText(r.type, r.dims), ") tuple(", r.name,
                    ")\n");
  } else {
    std::vector<std::string> shapes, names;
    for (const Value& r : results) {
      shapes.push_back(ShapeText(r.type, r.dims));
      names.push_back(r.name);
    }
    absl::StrAppend(&root, "(", absl::StrJoin(shapes, ", "), ") tuple(",
                    absl::StrJoin(names, ", "), ")\n");
  }
  return absl::StrCat("HloModule ", name, "\n\n", computations_,
                      "ENTRY main {\n", body_, root, "}\n");
}

}  // namespace ptxla::testing

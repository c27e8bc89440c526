#include "tests/properties/random_hlo.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/properties/random_hlo_values.h"

namespace ptxla::testing {
namespace {

constexpr int64_t kElements = 1 << 16;

std::string AnyType(HloWriter* w) {
  static const std::vector<std::string> kTypes = {
      "f32", "f32", "f32", "bf16", "bf16", "bf16", "s32", "s32", "u32", "pred"};
  return w->Pick(kTypes);
}

std::string FloatType(HloWriter* w) { return w->OneIn(2) ? "f32" : "bf16"; }

std::vector<Value> Elementwise(HloWriter* w) {
  const Dims dims = w->RandomDims(1 + w->Below(4), kElements);
  Value x = w->Parameter(AnyType(w), dims);
  x = w->Chain(x, 3 + w->Below(6));
  std::vector<Value> results = {x};
  // A second result of another branch of the same shape.
  if (w->OneIn(3)) results.push_back(w->Chain(x, 2));
  return results;
}

std::vector<Value> Reduction(HloWriter* w) {
  const int rank = 1 + w->Below(4);
  Value x = w->Parameter(w->OneIn(4) ? "s32" : FloatType(w),
                         w->RandomDims(rank, kElements));
  if (x.is_float()) x = w->Chain(x, w->Below(3));
  Dims over;
  while (over.empty()) {
    for (int d = 0; d < rank; ++d) {
      if (w->OneIn(2)) over.push_back(d);
    }
  }
  static const std::vector<std::string> kOps = {"add", "add", "maximum",
                                                "minimum"};
  Value r = w->Reduce(x, over, w->Pick(kOps));
  if (x.is_float() && w->OneIn(2)) r = w->Chain(r, 1 + w->Below(2));
  std::vector<Value> results = {r};
  if (w->OneIn(3)) results.push_back(w->Chain(x, 1));
  return results;
}

std::vector<Value> Product(HloWriter* w) {
  w->MarkCoarse();
  const std::string type = FloatType(w);
  const int64_t batch = w->OneIn(4) ? 1 + w->Below(4) : 0;
  int64_t m, k, n;
  do {
    m = w->Size(1000);
    k = w->Size(1000);
    n = w->Size(1000);
  } while (m * k * n * std::max<int64_t>(1, batch) > (int64_t{1} << 23));
  Dims a = {m, k}, b = {k, n};
  int64_t a_contract = 1, b_contract = 0;
  if (w->OneIn(4)) {
    a = {k, m};
    a_contract = 0;
  }
  if (w->OneIn(3)) {
    b = {n, k};
    b_contract = 1;
  }
  Dims out = {m, n};
  std::string attributes;
  if (batch > 0) {
    for (Dims* d : {&a, &b, &out}) d->insert(d->begin(), batch);
    ++a_contract;
    ++b_contract;
    attributes = ", lhs_batch_dims={0}, rhs_batch_dims={0}";
  }
  Value x = w->Parameter(type, a);
  Value y = w->Parameter(w->OneIn(4) ? "f32" : type, b);
  if (w->OneIn(3)) x = w->Chain(x, 1 + w->Below(2));
  x = w->Convert(x, type);
  y = w->Convert(y, type);
  const std::string result =
      type == "bf16" && w->OneIn(2) ? std::string("f32") : type;
  Value r = w->Op(
      result, out, "dot", {x, y},
      absl::StrCat(", lhs_contracting_dims={", a_contract,
                   "}, rhs_contracting_dims={", b_contract, "}", attributes));
  r.exact = false;
  if (w->OneIn(2)) r = w->Chain(r, 1 + w->Below(4));
  return {r};
}

std::vector<Value> Transpose(HloWriter* w) {
  const int rank = 2 + w->Below(3);
  Value x = w->Parameter(w->OneIn(4) ? "s32" : FloatType(w),
                         w->RandomDims(rank, kElements));
  if (x.is_float()) x = w->Chain(x, w->Below(2));
  Dims order, dims;
  for (int d = 0; d < rank; ++d) {
    order.insert(order.begin() + w->Below(d + 1), d);
  }
  for (int64_t d : order) dims.push_back(x.dims[d]);
  Value t = w->Op(x.type, dims, "transpose", {x},
                  absl::StrCat(", dimensions=", DimsText(order)));
  if (t.is_float()) t = w->Chain(t, w->Below(3));
  return {t};
}

std::vector<Value> Slice(HloWriter* w) {
  const int rank = 1 + w->Below(3);
  Value x = w->Parameter(w->OneIn(4) ? "s32" : FloatType(w),
                         w->RandomDims(rank, kElements));
  Dims dims;
  std::vector<std::string> ranges;
  for (int64_t extent : x.dims) {
    const int64_t begin = w->Below(static_cast<int>(extent));
    const int64_t end = begin + 1 + w->Below(static_cast<int>(extent - begin));
    dims.push_back(end - begin);
    ranges.push_back(absl::StrCat("[", begin, ":", end, "]"));
  }
  Value s = w->Op(x.type, dims, "slice", {x},
                  absl::StrCat(", slice={", absl::StrJoin(ranges, ", "), "}"));
  if (s.is_float()) s = w->Chain(s, w->Below(4));
  return {s};
}

std::vector<Value> Concatenate(HloWriter* w) {
  const int rank = 1 + w->Below(3);
  const Dims dims = w->RandomDims(rank, kElements / 4);
  const std::string type = w->OneIn(4) ? "s32" : FloatType(w);
  const int along = w->Below(rank);
  const int n = 2 + w->Below(3);
  Dims out = dims;
  out[along] = 0;
  std::vector<Value> pieces;
  for (int p = 0; p < n; ++p) {
    Dims piece = dims;
    piece[along] = 1 + w->Below(static_cast<int>(dims[along]));
    out[along] += piece[along];
    Value v = w->Parameter(type, piece);
    if (w->OneIn(3)) v = w->Convert(w->Step(v), type);
    pieces.push_back(v);
  }
  Value c = w->Op(type, out, "concatenate", pieces,
                  absl::StrCat(", dimensions={", along, "}"));
  if (c.is_float()) c = w->Chain(c, w->Below(3));
  return {c};
}

// Rows of a table, as an embedding takes them.
std::vector<Value> Gather(HloWriter* w) {
  const int64_t rows = 101 + w->Below(400);
  const int64_t width = w->Size(512);
  const int64_t count = w->Size(129);
  Value table = w->Parameter(FloatType(w), {rows, width});
  Value ids = w->Parameter("s32", {count, 1});
  Value g = w->Op(table.type, {count, width}, "gather", {table, ids},
                  absl::StrCat(", offset_dims={1}, collapsed_slice_dims={0}, "
                               "start_index_map={0}, index_vector_dim=1, "
                               "slice_sizes={1,",
                               width, "}"));
  return {w->Chain(g, w->Below(4))};
}

std::vector<Value> Broadcast(HloWriter* w) {
  const int rank = 1 + w->Below(4);
  const Dims dims = w->RandomDims(rank, kElements);
  Dims at, small;
  for (int d = 0; d < rank; ++d) {
    if (w->OneIn(2)) {
      at.push_back(d);
      small.push_back(dims[d]);
    }
  }
  Value x = w->Parameter(AnyType(w), small);
  if (x.is_float()) x = w->Chain(x, w->Below(2));
  Value b = w->Broadcast(x, dims, at);
  return {w->Chain(b, w->Below(3))};
}

// Normalisation over one dimension: reduce, broadcast, elementwise.
std::vector<Value> Normalise(HloWriter* w) {
  const int rank = 2 + w->Below(2);
  Value x = w->Parameter(FloatType(w), w->RandomDims(rank, kElements));
  const int64_t over = w->Below(rank);
  Dims kept;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != over) kept.push_back(d);
  }
  const Value top = w->Reduce(x, {over}, "maximum");
  Value y =
      w->Op(x.type, x.dims, "subtract", {x, w->Broadcast(top, x.dims, kept)});
  y = w->Op(x.type, x.dims, "exponential", {y});
  const Value sum = w->Reduce(y, {over}, "add");
  Value z =
      w->Op(x.type, x.dims, "divide", {y, w->Broadcast(sum, x.dims, kept)});
  z.exact = false;
  return {w->Chain(z, w->Below(2))};
}

// Two products with an activation between them.
std::vector<Value> Perceptron(HloWriter* w) {
  w->MarkCoarse();
  const std::string type = FloatType(w);
  const int64_t rows = w->Size(256), in = w->Size(256), hidden = w->Size(256),
                out = w->Size(129);
  const auto layer = [&](const Value& x, int64_t n) {
    const Value weights = w->Parameter(type, {x.dims[1], n});
    Value y = w->Op(type, {x.dims[0], n}, "dot", {x, weights},
                    ", lhs_contracting_dims={1}, rhs_contracting_dims={0}");
    y = w->Op(type, y.dims, "add",
              {y, w->Broadcast(w->Parameter(type, {n}), y.dims, {1})});
    y.exact = false;
    return y;
  };
  Value x = w->Parameter(type, {rows, in});
  Value h = w->Op(type, {rows, hidden}, "tanh", {layer(x, hidden)});
  return {w->Chain(layer(h, out), w->Below(2))};
}

std::vector<Value> Pad(HloWriter* w) {
  const int rank = 1 + w->Below(3);
  Value x = w->Parameter(w->OneIn(4) ? "s32" : FloatType(w),
                         w->RandomDims(rank, kElements / 4));
  Dims dims;
  std::vector<std::string> edges;
  for (int64_t extent : x.dims) {
    const int64_t low = w->Below(4) == 0 ? w->Below(9) : 0;
    const int64_t high = w->Below(2) == 0 ? w->Below(130) : 0;
    dims.push_back(low + extent + high);
    edges.push_back(absl::StrCat(low, "_", high));
  }
  while (ElementsOf(dims) > 4 * kElements) return Transpose(w);
  Value p = w->Op(x.type, dims, "pad", {x, w->Scalar(x.type, "0")},
                  absl::StrCat(", padding=", absl::StrJoin(edges, "x")));
  if (p.is_float()) p = w->Chain(p, w->Below(3));
  return {p};
}

struct Family {
  const char* name;
  std::vector<Value> (*make)(HloWriter*);
};
constexpr Family kFamilies[] = {
    {"elementwise", Elementwise},
    {"reduction", Reduction},
    {"product", Product},
    {"transpose", Transpose},
    {"slice", Slice},
    {"concatenate", Concatenate},
    {"gather", Gather},
    {"broadcast", Broadcast},
    {"normalise", Normalise},
    {"perceptron", Perceptron},
    {"pad", Pad},
};

}  // namespace

int NumFamilies() { return static_cast<int>(std::size(kFamilies)); }

RandomHlo MakeRandomHlo(uint64_t seed) {
  const Family& family = kFamilies[seed % std::size(kFamilies)];
  HloWriter w(seed * 7919 + 1);
  const std::vector<Value> results = family.make(&w);
  RandomHlo m;
  m.text = w.Module(absl::StrCat(family.name, "_", seed), results);
  m.family = family.name;
  m.coarse = w.coarse();
  return m;
}

}  // namespace ptxla::testing

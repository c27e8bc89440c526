#include "hlo_backend/passes/expanders/jacobi_eigen.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "hlo_backend/passes/expanders/column_loops.h"
#include "hlo_backend/passes/expanders/counter_loop.h"

namespace ptxla::hlo {
namespace {

// What a round does with [batch, h, columns] and [batch, h, h].
class Round {
 public:
  explicit Round(Builder* b) : b_(*b) {}

  Instruction* F32(float value, const DimVector& dims) {
    return b_.BroadcastScalar(b_.Constant(Literal::Scalar<float>(value)), dims);
  }
  Instruction* IsDiagonal(const DimVector& dims) {
    const Shape shape = Shape::Array(kS32, dims);
    return b_.Compare(b_.Iota(shape, 1), b_.Iota(shape, 2),
                      CompareDirection::kEq);
  }
  Instruction* Diagonal(Instruction* x) {
    const DimVector& dims = x->shape().dims();
    Matrices m(&b_);
    return m.Sum(b_.Select(IsDiagonal(dims), x, m.Zero(dims)), 2);
  }

  // Cosine and sine of the rotations that bring {p, r; r, q} to its diagonal.
  std::pair<Instruction*, Instruction*> Rotations(Instruction* p,
                                                  Instruction* r,
                                                  Instruction* q) {
    const DimVector& dims = p->shape().dims();
    Instruction* zero = F32(0, dims);
    Instruction* one = F32(1, dims);
    Instruction* none = b_.Compare(r, zero, CompareDirection::kEq);
    Instruction* tau = b_.Divide(
        b_.Subtract(q, p), b_.Multiply(F32(2, dims), b_.Select(none, one, r)));
    Instruction* length =
        b_.Add(b_.Abs(tau), b_.Sqrt(b_.Add(one, b_.Multiply(tau, tau))));
    Instruction* size = b_.Divide(one, length);
    Instruction* negative = b_.Compare(tau, zero, CompareDirection::kLt);
    Instruction* t = b_.Select(negative, b_.Negate(size), size);
    t = b_.Select(none, zero, t);
    Instruction* c = b_.Rsqrt(b_.Add(one, b_.Multiply(t, t)));
    return {c, b_.Multiply(t, c)};
  }

  // {c x - s y, s x + c y}, c and s along dimension `along`.
  std::pair<Instruction*, Instruction*> Turned(Instruction* x, Instruction* y,
                                               Instruction* c, Instruction* s,
                                               int64_t along) {
    const DimVector& dims = x->shape().dims();
    c = b_.Broadcast(c, dims, {0, along});
    s = b_.Broadcast(s, dims, {0, along});
    return {b_.Subtract(b_.Multiply(c, x), b_.Multiply(s, y)),
            b_.Add(b_.Multiply(s, x), b_.Multiply(c, y))};
  }

  Instruction* Part(Instruction* x, int64_t dim, int64_t from, int64_t to) {
    DimVector begin(3, 0), end = x->shape().dims();
    begin[dim] = from;
    end[dim] = to;
    return b_.Slice(x, begin, end);
  }
  // Everyone but the first one of x moves on by one place around both halves.
  void MoveOn(Instruction** x, Instruction** y, int64_t dim) {
    const int64_t h = (*x)->shape().dim(static_cast<int>(dim));
    if (h == 1) return;
    Instruction* first = b_.Concatenate(
        {Part(*x, dim, 0, 1), Part(*y, dim, 0, 1), Part(*x, dim, 1, h - 1)},
        dim);
    Instruction* second =
        b_.Concatenate({Part(*y, dim, 1, h), Part(*x, dim, h - 1, h)}, dim);
    if (h == 2) {
      first = b_.Concatenate({Part(*x, dim, 0, 1), Part(*y, dim, 0, 1)}, dim);
    }
    *x = first;
    *y = second;
  }

 private:
  Builder& b_;
};

int64_t Sweeps(int64_t n, int64_t most) {
  int64_t log = 0;
  while ((int64_t{1} << log) < n) ++log;
  return std::max<int64_t>(1, std::min(most, log + 4));
}

// [batch, n, n] of a triangle.
Instruction* Symmetric(Builder& b, Instruction* a, bool lower) {
  const DimVector& dims = a->shape().dims();
  const Shape places = Shape::Array(kS32, dims);
  Instruction* rows = b.Iota(places, 1);
  Instruction* columns = b.Iota(places, 2);
  Instruction* in = b.Compare(
      rows, columns, lower ? CompareDirection::kGe : CompareDirection::kLe);
  return b.Select(in, a, b.Transpose(a, {0, 2, 1}));
}

// From rows of eigenvectors, of which the first n count.
EigenPairs Ordered(Builder& b, Instruction* values, Instruction* rows,
                   int64_t n, bool is_sorted) {
  const int64_t batch = values->shape().dim(0);
  values = b.Slice(values, {0, 0}, {batch, n});
  rows = b.Slice(rows, {0, 0, 0}, {batch, n, n});
  if (is_sorted) {
    Builder less(b.module()->AddComputation("smaller_value"));
    Instruction* x = less.Parameter(0, Shape::Scalar(kF32));
    Instruction* y = less.Parameter(1, Shape::Scalar(kF32));
    less.Parameter(2, Shape::Scalar(kS32));
    less.Parameter(3, Shape::Scalar(kS32));
    less.computation()->SetRoot(less.Compare(x, y, CompareDirection::kLt));
    Instruction* places = b.Iota(Shape::Array(kS32, {batch, n}), 1);
    Instruction* sorted =
        b.Sort({values, places}, 1, /*is_stable=*/true, less.computation());
    values = b.GetTupleElement(sorted, 0);
    // Row k becomes the one that stood at order[k].
    const DimVector square = {batch, n, n};
    Instruction* order =
        b.Broadcast(b.GetTupleElement(sorted, 1), square, {0, 1});
    Instruction* chosen = b.Compare(
        order, b.Iota(Shape::Array(kS32, square), 2), CompareDirection::kEq);
    DotAttrs product;
    product.lhs_batch = product.rhs_batch = {0};
    product.lhs_contracting = {2};
    product.rhs_contracting = {1};
    product.precision.operands = {Precision::kHighest, Precision::kHighest};
    rows = b.Dot(b.Convert(chosen, kF32), rows, std::move(product));
  }
  return {b.Transpose(rows, {0, 2, 1}), values};
}

}  // namespace

EigenPairs JacobiEigen(Builder* builder, Instruction* a, bool lower,
                       bool is_sorted, int64_t most_sweeps) {
  Builder& b = *builder;
  const int64_t batch = a->shape().dim(0), n = a->shape().dim(1);
  const int64_t even = n + n % 2, h = even / 2;
  a = Symmetric(b, a, lower);
  if (even != n) {
    // A row of zeros turns nothing, and stays the last.
    std::vector<PaddingDim> padding(3);
    padding[1].high = padding[2].high = 1;
    a = b.Pad(a, b.Zero(kF32), padding);
  }
  Round outer(&b);
  const DimVector square = {batch, even, even}, quarter = {batch, h, h};
  Instruction* unit = b.Select(outer.IsDiagonal(square), outer.F32(1, square),
                               outer.F32(0, square));
  const auto half = [&](Instruction* x, int64_t dim, bool second) {
    return outer.Part(x, dim, second ? h : 0, second ? even : h);
  };
  std::vector<Instruction*> start;
  for (const bool row : {false, true}) {
    for (const bool column : {false, true}) {
      start.push_back(half(half(a, 1, row), 2, column));
    }
  }
  start.push_back(half(unit, 1, false));
  start.push_back(half(unit, 1, true));
  Instruction* loop = CounterLoop(
      b, "factor", start, Sweeps(n, most_sweeps) * (even - 1),
      [&](Builder& in, Instruction*, const std::vector<Instruction*>& state) {
        Round round(&in);
        Instruction *tl = state[0], *tr = state[1], *bl = state[2],
                    *br = state[3], *vt = state[4], *vb = state[5];
        const auto [c, s] = round.Rotations(
            round.Diagonal(tl), round.Diagonal(tr), round.Diagonal(br));
        std::tie(tl, bl) = round.Turned(tl, bl, c, s, 1);
        std::tie(tr, br) = round.Turned(tr, br, c, s, 1);
        std::tie(tl, tr) = round.Turned(tl, tr, c, s, 2);
        std::tie(bl, br) = round.Turned(bl, br, c, s, 2);
        std::tie(vt, vb) = round.Turned(vt, vb, c, s, 1);
        round.MoveOn(&tl, &bl, 1);
        round.MoveOn(&tr, &br, 1);
        round.MoveOn(&tl, &tr, 2);
        round.MoveOn(&bl, &br, 2);
        round.MoveOn(&vt, &vb, 1);
        return std::vector<Instruction*>{tl, tr, bl, br, vt, vb};
      });
  const auto element = [&](int k) { return b.GetTupleElement(loop, k); };
  Instruction* values = b.Concatenate(
      {outer.Diagonal(element(1)), outer.Diagonal(element(4))}, 1);
  Instruction* vectors = b.Concatenate({element(5), element(6)}, 1);
  return Ordered(b, values, vectors, n, is_sorted);
}

}  // namespace ptxla::hlo

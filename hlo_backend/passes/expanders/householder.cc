#include "hlo_backend/passes/expanders/householder.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/passes/expanders/column_loops.h"
#include "hlo_backend/passes/expanders/counter_loop.h"

namespace ptxla::hlo {

// As LAPACK's geqrf: v has a 1 on the diagonal, which is not stored.
Instruction* HouseholderQr(Builder* builder, Instruction* a) {
  Builder& outer = *builder;
  const DimVector dims = a->shape().dims();
  const int64_t batch = dims[0], steps = std::min(dims[1], dims[2]);
  const DimVector taus_dims = {batch, steps};
  return CounterLoop(
      outer, "factor", {a, Matrices(&outer).Zero(taus_dims)}, steps,
      [&](Builder& b, Instruction* j, const std::vector<Instruction*>& state) {
        Matrices m(&b);
        const DimVector line = {batch, dims[1]}, row = {batch, dims[2]},
                        one = {batch};
        const auto number = [&](float value, const DimVector& to) {
          return b.BroadcastScalar(b.Constant(Literal::Scalar<float>(value)),
                                   to);
        };
        Instruction* column = m.Pick(state[0], 2, j);
        Instruction* below = m.At(line, 1, j, CompareDirection::kGt);
        Instruction* tail = b.Select(below, column, m.Zero(line));
        Instruction* alpha = m.Pick(column, 1, j);
        Instruction* rest = m.Sum(b.Multiply(tail, tail), 1);
        Instruction* flat =
            b.Compare(rest, number(0, one), CompareDirection::kEq);
        Instruction* size = b.Sqrt(b.Add(b.Multiply(alpha, alpha), rest));
        Instruction* negative =
            b.Compare(alpha, number(0, one), CompareDirection::kLt);
        Instruction* beta =
            b.Select(flat, alpha, b.Select(negative, size, b.Negate(size)));
        const auto safe = [&](Instruction* x) {
          return b.Select(flat, number(1, one), x);
        };
        Instruction* tau =
            b.Select(flat, number(0, one),
                     b.Divide(b.Subtract(beta, alpha), safe(beta)));
        Instruction* scale = safe(b.Subtract(alpha, beta));
        Instruction* stored = b.Divide(tail, b.Broadcast(scale, line, {0}));
        Instruction* v = b.Select(m.At(line, 1, j), number(1, line), stored);
        Instruction* down = m.Spread(v, dims, 2);
        Instruction* along = m.Sum(b.Multiply(down, state[0]), 1);
        along = b.Multiply(along, b.Broadcast(tau, row, {0}));
        Instruction* right = b.Select(m.At(row, 1, j, CompareDirection::kGt),
                                      along, m.Zero(row));
        Instruction* next =
            b.Subtract(state[0], b.Multiply(down, m.Spread(right, dims, 1)));
        // Column j: beta on the diagonal, v below it.
        Instruction* mine = b.Select(
            below, stored,
            b.Select(m.At(line, 1, j), b.Broadcast(beta, line, {0}), column));
        next = b.Select(m.At(dims, 2, j), m.Spread(mine, dims, 2), next);
        Instruction* taus = b.Select(
            m.At(taus_dims, 1, j), b.Broadcast(tau, taus_dims, {0}), state[1]);
        return std::vector<Instruction*>{next, taus};
      });
}
Instruction* HouseholderProduct(Builder* builder, Instruction* a,
                                Instruction* taus) {
  Builder& outer = *builder;
  const DimVector dims = a->shape().dims();
  const int64_t steps = taus->shape().dim(1);
  Instruction* diagonal =
      outer.Convert(outer.Compare(outer.Iota(Shape::Array(kS32, dims), 1),
                                  outer.Iota(Shape::Array(kS32, dims), 2),
                                  CompareDirection::kEq),
                    kF32);
  return CounterLoop(
      outer, "factor", {a, taus, diagonal}, steps,
      [&](Builder& b, Instruction* step,
          const std::vector<Instruction*>& state) {
        Matrices m(&b);
        const DimVector line = {dims[0], dims[1]}, row = {dims[0], dims[2]};
        Instruction* j =
            b.Subtract(m.Int(static_cast<int32_t>(steps - 1), {}), step);
        Instruction* column = m.Pick(state[0], 2, j);
        Instruction* ones = b.BroadcastScalar(b.One(kF32), line);
        Instruction* v =
            b.Select(m.At(line, 1, j, CompareDirection::kGt), column,
                     b.Select(m.At(line, 1, j), ones, m.Zero(line)));
        Instruction* tau = m.Pick(state[1], 1, j);
        Instruction* down = m.Spread(v, dims, 2);
        Instruction* along = b.Multiply(m.Sum(b.Multiply(down, state[2]), 1),
                                        b.Broadcast(tau, row, {0}));
        return std::vector<Instruction*>{
            state[0], state[1],
            b.Subtract(state[2], b.Multiply(down, m.Spread(along, dims, 1)))};
      });
}
}  // namespace ptxla::hlo

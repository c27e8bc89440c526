#include "hlo_backend/passes/expanders/linear_algebra_expander.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/column_loops.h"
#include "hlo_backend/passes/expanders/counter_loop.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/expanders/householder.h"
#include "hlo_backend/passes/expanders/jacobi_eigen.h"

namespace ptxla::hlo {
namespace {

class LinearAlgebraExpander {
 public:
  explicit LinearAlgebraExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  // Null: another instruction, or a type that loops do not take.
  Instruction* Expand() {
    const std::string target = i_->opcode() == Opcode::kCustomCall
                                   ? i_->attrs<CustomCallAttrs>().target
                                   : "";
    const int results =
        i_->shape().IsTuple() ? i_->shape().element_count_of_tuple() : 1;
    const bool lu = target == "LuDecomposition" && results == 3;
    const bool qr = target == "Qr" && results == 2;
    const bool product = target == "ProductOfElementaryHouseholderReflectors" &&
                         results == 1 && i_->operand_count() == 2;
    const bool eigh = target == "Eigh" && results == 2;
    if (i_->opcode() != Opcode::kCholesky &&
        i_->opcode() != Opcode::kTriangularSolve && !lu && !qr && !product &&
        !eigh) {
      return nullptr;
    }
    if (i_->operand_count() == 0 || !i_->operand(0)->shape().IsArray() ||
        i_->operand(0)->shape().rank() < 2) {
      return nullptr;
    }
    const PrimitiveType type = i_->operand(0)->shape().type();
    const bool is_wide =
        (type == PrimitiveType::kC64 || type == PrimitiveType::kF64) && !lu &&
        !qr && !product && !eigh;
    if ((!is_wide && (!IsFloat(type) || BitWidth(type) > 32)) ||
        i_->operand(0)->shape().ElementCount() == 0) {
      return nullptr;
    }
    if (lu) return Lu();
    if (qr) return Qr();
    if (product) return Product();
    if (eigh) return Eigh();
    return i_->opcode() == Opcode::kCholesky ? Cholesky() : Solve();
  }

 private:
  // As f32[batch, rows, columns], f64 or c64.
  Instruction* Matrix(Instruction* x) {
    const PrimitiveType type = x->shape().type();
    if (BitWidth(type) < 32) x = b_.Convert(x, kF32);
    const int rank = x->shape().rank();
    int64_t batch = 1;
    for (int d = 0; d + 2 < rank; ++d) batch *= x->shape().dim(d);
    return b_.Reshape(
        x, {batch, x->shape().dim(rank - 2), x->shape().dim(rank - 1)});
  }
  Instruction* Back(Instruction* x, const Shape& shape) {
    x = b_.Reshape(x, shape.dims());
    return x->shape().type() == shape.type() ? x : b_.Convert(x, shape.type());
  }
  Instruction* Transposed(Instruction* x) { return b_.Transpose(x, {0, 2, 1}); }

  Instruction* Cholesky() {
    Instruction* a = Matrix(i_->operand(0));
    const DimVector dims = a->shape().dims();
    const bool lower = i_->attrs<CholeskyAttrs>().lower;
    if (!lower) a = Transposed(a);
    const PrimitiveType type = a->shape().type();
    Instruction* zero = Matrices(&b_).Zero(dims, type);
    Instruction* loop = CounterLoop(
        b_, "factor", {a, zero}, dims[1],
        [&](Builder& b, Instruction* j,
            const std::vector<Instruction*>& state) {
          Matrices m(&b);
          const DimVector line = {dims[0], dims[1]};
          Instruction* column = m.Pick(state[0], 2, j);
          // A Hermitian matrix has real pivots.
          Instruction* pivot = m.Pick(column, 1, j);
          if (IsComplex(type)) pivot = b.Unary(Opcode::kReal, pivot);
          // Of f64 a reciprocal root has no more than the bits of f32, a root
          // and a quotient have all.
          Instruction* factor =
              type == PrimitiveType::kF64
                  ? b.Divide(b.BroadcastScalar(b.One(type), {dims[0]}),
                             b.Sqrt(pivot))
                  : b.Rsqrt(pivot);
          if (IsComplex(type)) factor = b.Convert(factor, type);
          Instruction* scaled =
              b.Multiply(column, b.Broadcast(factor, line, {0}));
          scaled = b.Select(m.At(line, 1, j, CompareDirection::kGe), scaled,
                            m.Zero(line, type));
          Instruction* down = m.Spread(scaled, dims, 2);
          Instruction* along = m.Spread(m.Conjugate(scaled), dims, 1);
          Instruction* rest = b.Subtract(state[0], b.Multiply(down, along));
          Instruction* found = b.Select(m.At(dims, 2, j), down, state[1]);
          return std::vector<Instruction*>{rest, found};
        });
    Instruction* l = b_.GetTupleElement(loop, 2);
    return Back(lower ? l : Transposed(l), i_->shape());
  }

  Instruction* Solve() {
    const auto& attrs = i_->attrs<TriangularSolveAttrs>();
    Instruction* a = Matrix(i_->operand(0));
    Instruction* b = Matrix(i_->operand(1));
    const bool flip =
        (attrs.transpose_a == TransposeA::kTranspose ||
         attrs.transpose_a == TransposeA::kAdjoint) != !attrs.left_side;
    const PrimitiveType type = a->shape().type();
    if (flip) a = Transposed(a);
    if (attrs.transpose_a == TransposeA::kAdjoint) {
      a = Matrices(&b_).Conjugate(a);
    }
    if (!attrs.left_side) b = Transposed(b);
    const bool lower = attrs.lower != flip;
    const DimVector square = a->shape().dims(), dims = b->shape().dims();
    const int64_t n = square[1];
    Instruction* loop = CounterLoop(
        b_, "factor", {a, b, Matrices(&b_).Zero(dims, type)}, n,
        [&](Builder& in, Instruction* step,
            const std::vector<Instruction*>& state) {
          Matrices m(&in);
          Instruction* j =
              lower ? step
                    : in.Subtract(m.Int(static_cast<int32_t>(n - 1), {}), step);
          const DimVector line = {dims[0], dims[2]};
          Instruction* row = m.Pick(state[1], 1, j);
          Instruction* column = m.Pick(state[0], 2, j);
          if (!attrs.unit_diagonal) {
            Instruction* pivot = m.Pick(column, 1, j);
            row = in.Divide(row, in.Broadcast(pivot, line, {0}));
          }
          Instruction* along = m.Spread(row, dims, 1);
          // Only rows that are not solved yet.
          Instruction* open =
              m.At(dims, 1, j,
                   lower ? CompareDirection::kGt : CompareDirection::kLt);
          Instruction* taken =
              in.Select(open, in.Multiply(m.Spread(column, dims, 2), along),
                        m.Zero(dims, type));
          return std::vector<Instruction*>{
              state[0], in.Subtract(state[1], taken),
              in.Select(m.At(dims, 1, j), along, state[2])};
        });
    Instruction* x = b_.GetTupleElement(loop, 3);
    if (!attrs.left_side) x = Transposed(x);
    return Back(x, i_->shape());
  }

  Instruction* Lu() {
    Instruction* a = Matrix(i_->operand(0));
    const DimVector dims = a->shape().dims();
    const int64_t batch = dims[0], rows = dims[1];
    const int64_t steps = std::min(rows, dims[2]);
    const DimVector pivots_dims = {batch, steps}, order_dims = {batch, rows};
    Instruction* pivots = b_.BroadcastScalar(b_.Zero(kS32), pivots_dims);
    Instruction* order = b_.Iota(Shape::Array(kS32, order_dims), 1);
    Instruction* loop = CounterLoop(
        b_, "factor", {a, pivots, order}, steps,
        [&](Builder& b, Instruction* j,
            const std::vector<Instruction*>& state) {
          Matrices m(&b);
          const auto spread = [&](Instruction* x, const DimVector& to) {
            return b.Broadcast(x, to, {0});
          };
          Instruction* place = b.Iota(Shape::Array(kS32, order_dims), 1);
          Instruction* column = m.Pick(state[0], 2, j);
          // The first of the largest below the diagonal.
          Instruction* size = b.Select(
              m.At(order_dims, 1, j, CompareDirection::kGe), b.Abs(column),
              b.BroadcastScalar(b.Constant(Literal::Scalar<float>(-1)),
                                order_dims));
          Instruction* most =
              b.Reduce(size,
                       b.Constant(Literal::Scalar<float>(
                           -std::numeric_limits<float>::infinity())),
                       {1}, b.Scalar2(Opcode::kMaximum, kF32));
          Instruction* last = m.Int(static_cast<int32_t>(rows - 1), order_dims);
          Instruction* hit =
              b.Compare(size, spread(most, order_dims), CompareDirection::kEq);
          Instruction* pivot =
              b.Reduce(b.Select(hit, place, last),
                       m.Int(static_cast<int32_t>(rows - 1), {}), {1},
                       b.Scalar2(Opcode::kMinimum, kS32));  // [batch]
          Instruction* is_pivot = b.Compare(place, spread(pivot, order_dims),
                                            CompareDirection::kEq);
          Instruction* is_step = m.At(order_dims, 1, j);
          // Rows j and pivot change places.
          const DimVector row_dims = {batch, dims[2]};
          Instruction* zeros = m.Zero(dims);
          const auto rows_of = [&](Instruction* mask) {
            return b.Broadcast(mask, dims, {0, 1});
          };
          Instruction* row_j = m.Pick(state[0], 1, j);
          Instruction* row_p =
              m.Sum(b.Select(rows_of(is_pivot), state[0], zeros), 1);
          Instruction* swapped =
              b.Select(rows_of(is_pivot), m.Spread(row_j, dims, 1), state[0]);
          swapped =
              b.Select(rows_of(is_step), m.Spread(row_p, dims, 1), swapped);
          Instruction* none = b.BroadcastScalar(b.Zero(kS32), order_dims);
          Instruction* order_j = m.Pick(state[2], 1, j);
          Instruction* order_p = m.Sum(b.Select(is_pivot, state[2], none), 1);
          Instruction* reordered =
              b.Select(is_pivot, spread(order_j, order_dims), state[2]);
          reordered = b.Select(is_step, spread(order_p, order_dims), reordered);
          // Below the diagonal: factors; right of them: what is left.
          Instruction* top = m.Pick(row_p, 1, j);  // [batch]
          Instruction* now = m.Pick(swapped, 2, j);
          Instruction* below = m.At(order_dims, 1, j, CompareDirection::kGt);
          Instruction* zero_line = m.Zero(order_dims);
          Instruction* safe =
              b.Select(b.Compare(top, b.BroadcastScalar(b.Zero(kF32), {batch}),
                                 CompareDirection::kEq),
                       b.BroadcastScalar(b.One(kF32), {batch}), top);
          Instruction* factor = b.Select(
              below, b.Divide(now, spread(safe, order_dims)), zero_line);
          Instruction* right =
              b.Select(m.At(row_dims, 1, j, CompareDirection::kGt), row_p,
                       m.Zero(row_dims));
          Instruction* rest = b.Subtract(
              swapped,
              b.Multiply(m.Spread(factor, dims, 2), m.Spread(right, dims, 1)));
          Instruction* at_column = b.And(rows_of(below), m.At(dims, 2, j));
          Instruction* lu =
              b.Select(at_column, m.Spread(factor, dims, 2), rest);
          Instruction* chosen = b.Select(m.At(pivots_dims, 1, j),
                                         spread(pivot, pivots_dims), state[1]);
          return std::vector<Instruction*>{lu, chosen, reordered};
        });
    return b_.Tuple(
        {Back(b_.GetTupleElement(loop, 1), i_->shape().element(0)),
         Back(b_.GetTupleElement(loop, 2), i_->shape().element(1)),
         Back(b_.GetTupleElement(loop, 3), i_->shape().element(2))});
  }

  Instruction* Qr() {
    Instruction* loop = HouseholderQr(&b_, Matrix(i_->operand(0)));
    return b_.Tuple(
        {Back(b_.GetTupleElement(loop, 1), i_->shape().element(0)),
         Back(b_.GetTupleElement(loop, 2), i_->shape().element(1))});
  }

  // backend_config "lower,sorted,most sweeps,tolerance".
  Instruction* Eigh() {
    const std::vector<std::string> words =
        absl::StrSplit(i_->backend_config(), ',');
    int64_t lower, sorted, sweeps;
    if (words.size() < 3 || !absl::SimpleAtoi(words[0], &lower) ||
        !absl::SimpleAtoi(words[1], &sorted) ||
        !absl::SimpleAtoi(words[2], &sweeps)) {
      return nullptr;
    }
    const EigenPairs pairs = JacobiEigen(&b_, Matrix(i_->operand(0)),
                                         lower != 0, sorted != 0, sweeps);
    return b_.Tuple({Back(pairs.vectors, i_->shape().element(0)),
                     Back(pairs.values, i_->shape().element(1))});
  }

  Instruction* Product() {
    Instruction* a = Matrix(i_->operand(0));
    Instruction* taus = i_->operand(1);
    const int64_t steps = taus->shape().dim(taus->shape().rank() - 1);
    if (taus->shape().type() != kF32) taus = b_.Convert(taus, kF32);
    taus = b_.Reshape(taus, {a->shape().dim(0), steps});
    return Back(b_.GetTupleElement(HouseholderProduct(&b_, a, taus), 3),
                i_->shape());
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> LinearAlgebraExpanderPass::Run(Module* module,
                                                    const PassContext&) {
  return ExpandEach(
      module, [](Instruction* i) { return LinearAlgebraExpander(i).Expand(); });
}

}  // namespace ptxla::hlo

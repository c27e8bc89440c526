#include "hlo_backend/passes/expanders/ragged_steps.h"

#include <vector>

#include "base/units.h"

namespace ptxla::hlo {
namespace {

// Arithmetic on s32 arrays.
class Words {
 public:
  explicit Words(Builder* b) : b_(*b) {}

  Instruction* Splat(int64_t value, const DimVector& dims) {
    return b_.BroadcastScalar(
        b_.ConstantScalar(PrimitiveType::kS32, static_cast<double>(value)),
        dims);
  }
  Instruction* Iota(const DimVector& dims, int64_t dim) {
    return b_.Iota(Shape::Array(PrimitiveType::kS32, dims), dim);
  }
  Instruction* Over(Instruction* x, const DimVector& dims, int64_t dim) {
    return b_.Broadcast(x, dims, {dim});
  }
  Instruction* Clamp(Instruction* x, int64_t low, int64_t high) {
    const DimVector& dims = x->shape().dims();
    return b_.Maximum(b_.Minimum(x, Splat(high, dims)), Splat(low, dims));
  }
  Instruction* Plus(Instruction* x, int64_t value) {
    return b_.Add(x, Splat(value, x->shape().dims()));
  }
  Instruction* Times(Instruction* x, int64_t value) {
    return b_.Multiply(x, Splat(value, x->shape().dims()));
  }
  Instruction* TilesBelow(Instruction* row, int shift) {
    return b_.ShiftRightLogical(row, Splat(shift, row->shape().dims()));
  }
  Instruction* Less(Instruction* x, Instruction* y) {
    return b_.Compare(x, y, CompareDirection::kLt);
  }
  Instruction* LessEqual(Instruction* x, Instruction* y) {
    return b_.Compare(x, y, CompareDirection::kLe);
  }
  // Along the second of two dimensions.
  Instruction* SumWhere(Instruction* mask, Instruction* values) {
    Instruction* kept =
        b_.Select(mask, values, Splat(0, values->shape().dims()));
    return b_.Reduce(kept, b_.Zero(PrimitiveType::kS32), {1},
                     b_.Scalar2(Opcode::kAdd, PrimitiveType::kS32));
  }
  // sums[i], i < count: of values[j], j < i, or j <= i.
  Instruction* Sums(Instruction* values, int64_t count, bool inclusive) {
    const DimVector dims = {count, values->shape().dim(0)};
    Instruction *i = Iota(dims, 0), *j = Iota(dims, 1);
    return SumWhere(inclusive ? LessEqual(j, i) : Less(j, i),
                    Over(values, dims, 1));
  }

 private:
  Builder& b_;
};

}  // namespace

Instruction* RaggedBounds(Instruction* sizes, int64_t rows, Builder* b) {
  Words w(b);
  const int64_t groups = sizes->shape().dim(0);
  // A size beyond the rows fills them: no sum overflows.
  return w.Clamp(w.Sums(w.Clamp(sizes, 0, rows), groups + 1, false), 0, rows);
}

RaggedSteps MakeRaggedSteps(Instruction* sizes, const RaggedCall& call,
                            Builder* b) {
  Words w(b);
  const int shift = CeilLog2(call.tile_rows);
  const int64_t tiles = call.steps - call.groups;
  // By rows, what lies behind all groups is one more.
  const int64_t count = call.groups + (call.by_groups ? 0 : 1);
  Instruction* kept = w.Clamp(sizes, 0, call.rows);
  Instruction* start = w.Clamp(w.Sums(kept, count, false), 0, call.rows);
  Instruction* end = w.Clamp(w.Sums(kept, count, true), 0, call.rows);
  if (!call.by_groups) {
    Instruction* last =
        b->Compare(w.Iota({count}, 0), w.Splat(call.groups, {count}),
                   CompareDirection::kEq);
    end = b->Select(last, w.Splat(call.rows, {count}), end);
  }
  Instruction* first_tile = w.TilesBelow(start, shift);
  Instruction* tile_count = b->Subtract(
      w.TilesBelow(w.Plus(end, call.tile_rows - 1), shift), first_tile);
  tile_count = b->Select(w.Less(start, end), tile_count,
                         w.Splat(call.by_groups ? 1 : 0, {count}));
  if (call.by_groups) first_tile = w.Clamp(first_tile, 0, tiles - 1);
  Instruction* steps_end = w.Sums(tile_count, count, true);
  Instruction* steps_begin = b->Subtract(steps_end, tile_count);

  const DimVector steps = {call.steps};
  const DimVector pairs = {call.steps, count};
  Instruction* all =
      w.SumWhere(b->Compare(w.Iota(pairs, 1), w.Splat(count - 1, pairs),
                            CompareDirection::kEq),
                 w.Over(steps_end, pairs, 1));
  Instruction* step = w.Iota(steps, 0);
  Instruction* used = w.Less(step, all);
  Instruction* at = b->Minimum(step, w.Plus(all, -1));
  Instruction* wide = w.Over(at, pairs, 0);
  Instruction* mine = b->And(w.LessEqual(w.Over(steps_begin, pairs, 1), wide),
                             w.Less(wide, w.Over(steps_end, pairs, 1)));
  const auto of_mine = [&](Instruction* per_group) {
    return w.SumWhere(mine, w.Over(per_group, pairs, 1));
  };
  Instruction* group = w.SumWhere(mine, w.Iota(pairs, 1));
  Instruction* tile = b->Add(at, of_mine(b->Subtract(first_tile, steps_begin)));
  Instruction* origin = w.Times(tile, call.tile_rows);
  Instruction* low = b->Subtract(of_mine(start), origin);
  Instruction* high = b->Subtract(of_mine(end), origin);
  Instruction* first = call.by_groups ? b->Compare(step, of_mine(steps_begin),
                                                   CompareDirection::kEq)
                                      : w.LessEqual(low, w.Splat(0, steps));
  first = b->And(first, used);
  low = w.Clamp(low, 0, call.tile_rows);
  high = w.Clamp(high, 0, call.tile_rows);
  Instruction* filled =
      b->And(used, w.Less(group, w.Splat(call.groups, steps)));
  high = b->Select(filled, high, low);
  Instruction* rows = b->Add(w.Times(low, int64_t{1} << kRaggedLowShift), high);
  rows = b->Add(
      rows, b->Select(first, w.Splat(int64_t{1} << kRaggedFirstShift, steps),
                      w.Splat(0, steps)));
  return {rows, w.Clamp(group, 0, call.groups - 1), tile};
}

}  // namespace ptxla::hlo

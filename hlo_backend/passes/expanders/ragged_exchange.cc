#include "hlo_backend/passes/expanders/ragged_exchange.h"

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

Instruction* RowsMovedWithin(Instruction* exchange) {
  Builder b(exchange->parent());
  b.set_metadata(exchange->shared_metadata());
  Instruction *x = exchange->operand(0), *out = exchange->operand(1);
  const int64_t rows = out->shape().dim(0);
  // One row per entry of the offsets and sizes, one column per row of the
  // result.
  const Shape grid =
      Shape::Array(kS32, {exchange->operand(2)->shape().dim(0), rows});
  const auto all = [&](double value) {
    return b.BroadcastScalar(b.ConstantScalar(kS32, value), grid.dims());
  };
  const auto of_entry = [&](int operand) {
    Instruction* v = exchange->operand(operand);
    if (v->shape().type() != kS32) v = b.Convert(v, kS32);
    return b.Broadcast(v, grid.dims(), {0});
  };
  Instruction* begin = b.Maximum(of_entry(2), all(0));
  Instruction* size = of_entry(3);
  Instruction* at = b.Maximum(of_entry(4), all(0));
  Instruction* within = b.Subtract(b.Iota(grid, 1), at);
  Instruction* source = b.Add(begin, within);
  const auto less = [&](Instruction* p, Instruction* q) {
    return b.Compare(p, q, CompareDirection::kLt);
  };
  Instruction* inside =
      b.And(b.And(b.Compare(within, all(0), CompareDirection::kGe),
                  less(within, size)),
            less(source, all(static_cast<double>(x->shape().dim(0)))));
  // Later entries write over earlier ones.
  const auto most = [&](Instruction* v) {
    return b.Reduce(v, b.ConstantScalar(kS32, -1), {0},
                    b.Scalar2(Opcode::kMaximum, kS32));
  };
  Instruction* entry = b.Iota(grid, 0);
  Instruction* last = most(b.Select(inside, entry, all(-1)));
  Instruction* is_last = b.Compare(entry, b.Broadcast(last, grid.dims(), {1}),
                                   CompareDirection::kEq);
  Instruction* from = most(b.Select(is_last, source, all(-1)));
  GatherAttrs a;
  a.collapsed_slice_dims = {0};
  a.start_index_map = {0};
  a.index_vector_dim = 1;
  a.slice_sizes = x->shape().dims();
  a.slice_sizes[0] = 1;
  for (int d = 1; d < x->shape().rank(); ++d) a.offset_dims.push_back(d);
  Instruction* moved = b.Gather(x, from, a);
  Instruction* none =
      b.BroadcastScalar(b.ConstantScalar(kS32, 0), from->shape().dims());
  Instruction* written = b.Broadcast(
      b.Compare(last, none, CompareDirection::kGe), out->shape().dims(), {0});
  return b.Select(written, moved, out);
}

}  // namespace ptxla::hlo

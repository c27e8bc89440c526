#include "hlo_backend/passes/scheduled/split_dot_batch.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

bool LiesByRows(const Shape& shape) {
  return shape.has_layout() && shape.layout().IsRowMajor();
}

// [b, x, y] as [b0, b1 ..., x, y] with the tiles that it has.
Shape Split(const Shape& operand, const DimVector& batch) {
  DimVector dims = batch;
  dims.push_back(operand.dim(1));
  dims.push_back(operand.dim(2));
  Shape result = Shape::Array(operand.type(), dims);
  Layout layout = Layout::RowMajor(static_cast<int64_t>(dims.size()));
  layout.tiles = operand.layout().tiles;
  layout.memory_space = operand.layout().memory_space;
  result.set_layout(layout);
  return result;
}

// Nothing works on it: it is a result by another name.
bool IsOnlyNamed(const Instruction& value) {
  return std::all_of(
      value.users().begin(), value.users().end(), [](const Instruction* u) {
        return (u->opcode() == Opcode::kTuple && u->IsRoot()) ||
               (u->opcode() == Opcode::kBitcast &&
                (u->IsRoot() || u->user_count() > 0) && IsOnlyNamed(*u));
      });
}

bool SplitOne(Computation* c, Instruction* dot) {
  if (dot->user_count() != 1 || dot->IsRoot()) return false;
  Instruction* user = dot->users()[0];
  if (user->IsRoot() || IsOnlyNamed(*user)) return false;
  const Shape& from = dot->shape();
  const Shape& to = user->shape();
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  if (user->opcode() != Opcode::kBitcast || from.type() != to.type() ||
      attrs.lhs_batch != DimVector{0} || attrs.rhs_batch != DimVector{0} ||
      attrs.lhs_contracting.size() != 1 || attrs.rhs_contracting.size() != 1 ||
      from.rank() != 3 || to.rank() < 4 || !LiesByRows(from) ||
      !LiesByRows(to) || from.layout().tiles != to.layout().tiles ||
      to.dim(to.rank() - 2) != from.dim(1) ||
      to.dim(to.rank() - 1) != from.dim(2)) {
    return false;
  }
  DimVector batch(to.dims().begin(), to.dims().end() - 2);
  std::vector<Instruction*> operands;
  for (Instruction* o : dot->operands()) {
    if (o->shape().rank() != 3 || !LiesByRows(o->shape())) return false;
    const Shape split = Split(o->shape(), batch);
    if (!IsTiledBitcast(o->shape(), split)) return false;
  }
  for (Instruction* o : dot->operands()) {
    operands.push_back(c->Add(Opcode::kBitcast, Split(o->shape(), batch), {o}));
  }
  DotAttrs split = attrs;
  const int64_t more = static_cast<int64_t>(batch.size()) - 1;
  split.lhs_batch.clear();
  for (int64_t d = 0; d <= more; ++d) split.lhs_batch.push_back(d);
  split.rhs_batch = split.lhs_batch;
  split.lhs_contracting[0] += more;
  split.rhs_contracting[0] += more;
  Instruction* result = c->Add(Opcode::kDot, to, operands, split);
  if (dot->shared_metadata() != nullptr) {
    result->set_metadata(dot->shared_metadata());
  }
  CopyScoreOrder(*dot, result);
  c->Replace(user, result);
  return true;
}

// The left operand [batch, rows, K] with rows as `result` has them.
Shape SplitRows(const Shape& lhs, const Shape& result) {
  DimVector dims(result.dims().begin(), result.dims().end() - 1);
  dims.push_back(lhs.dim(lhs.rank() - 1));
  Shape shape = Shape::Array(lhs.type(), dims);
  Layout layout = Layout::RowMajor(static_cast<int64_t>(dims.size()));
  layout.tiles = lhs.layout().tiles;
  layout.memory_space = lhs.layout().memory_space;
  shape.set_layout(layout);
  return shape;
}

// Elementwise work on rows of that shape, by another name.
bool IsNameOf(const Instruction& lhs, const Shape& shape) {
  return lhs.opcode() == Opcode::kBitcast && lhs.operand(0)->IsElementwise() &&
         lhs.operand(0)->shape().SameDims(shape) &&
         LiesByRows(lhs.operand(0)->shape());
}

bool SplitRowsOfOne(Computation* c, Instruction* dot) {
  if (dot->user_count() != 1 || dot->IsRoot()) return false;
  Instruction* user = dot->users()[0];
  Instruction* lhs = dot->operand(0);
  const Shape& from = dot->shape();
  const Shape& to = user->shape();
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  const auto batch = static_cast<int>(attrs.lhs_batch.size());
  const int more = to.rank() - from.rank();
  // Rows of a dot without a batch share a weight: they stay one matrix, as the
  // arrays around them are.
  if (batch < 1 || user->opcode() != Opcode::kBitcast ||
      from.type() != to.type() || more < 1 || from.rank() != batch + 2 ||
      lhs->shape().rank() != batch + 2 ||
      attrs.lhs_contracting != DimVector{batch + 1} ||
      attrs.rhs_contracting.size() != 1 || !LiesByRows(from) ||
      !LiesByRows(to) || !LiesByRows(lhs->shape()) ||
      from.layout().tiles != to.layout().tiles ||
      to.dim(to.rank() - 1) != from.dim(batch + 1)) {
    return false;
  }
  for (int d = 0; d < batch; ++d) {
    if (attrs.lhs_batch[d] != d || to.dim(d) != from.dim(d)) return false;
  }
  const Shape split = SplitRows(lhs->shape(), to);
  const bool named = IsNameOf(*lhs, split);
  if ((!named && !MeetsRowReduce(*user)) || !IsTiledBitcast(from, to) ||
      !IsTiledBitcast(lhs->shape(), split)) {
    return false;
  }
  Instruction* rows =
      named ? lhs->operand(0) : c->Add(Opcode::kBitcast, split, {lhs});
  DotAttrs with_rows = attrs;
  with_rows.lhs_contracting[0] += more;
  Instruction* result =
      c->Add(Opcode::kDot, to, {rows, dot->operand(1)}, with_rows);
  if (dot->shared_metadata() != nullptr) {
    result->set_metadata(dot->shared_metadata());
  }
  CopyScoreOrder(*dot, result);
  c->Replace(user, result);
  return true;
}

}  // namespace

bool SplitDotBatches(Computation* computation) {
  bool changed = false;
  // Bitcasts behind the products go on the way.
  std::vector<Instruction*> dots;
  for (Instruction* i : computation->PostOrder()) {
    if (i->opcode() == Opcode::kDot) dots.push_back(i);
  }
  for (Instruction* dot : dots) {
    changed |= SplitOne(computation, dot) || SplitRowsOfOne(computation, dot);
  }
  if (changed) computation->RemoveDead();
  return changed;
}

}  // namespace ptxla::hlo

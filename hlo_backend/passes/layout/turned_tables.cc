#include "hlo_backend/passes/layout/turned_tables.h"

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/layout/free_work.h"

namespace ptxla::hlo {
namespace {

const DimVector& RowsForColumns() {
  static const auto* const kOrder = new DimVector{1, 0};
  return *kOrder;
}

int64_t TurnedBytes(const Shape& columns, int generation) {
  return TpuBytes(
      Shape::Array(columns.type(), {columns.dim(1), columns.dim(0)}),
      generation);
}

// What is made in either order: rows of 128 numbers and more stay rows.
bool IsMadeAsColumns(const Shape& columns, int generation) {
  return columns.dim(0) < kLanes &&
         TurnedBytes(columns, generation) - TpuBytes(columns, generation) >
             chips::WholePolicy("turned_table_bytes");
}

bool StaysColumns(const Shape& columns, int generation) {
  return IsMadeAsColumns(columns, generation) &&
         TurnedBytes(columns, generation) >
             TpuBytes(columns, generation) *
                 chips::WholePolicy("turned_table_ratio");
}

// s32[N], of [N,1] too.
Instruction* Flat(Builder* b, Instruction* rows) {
  return rows->shape().rank() == 1 ? rows
                                   : b->Reshape(rows, {rows->shape().dim(0)});
}

Instruction* GatherOf(Builder* b, Instruction* columns, Instruction* i) {
  GatherAttrs a = i->attrs<GatherAttrs>();
  a.offset_dims = {0};
  a.collapsed_slice_dims = a.start_index_map = {1};
  a.index_vector_dim = 1;
  a.slice_sizes = {columns->shape().dim(0), 1};
  return b->Gather(columns, Flat(b, i->operand(1)), a);
}

Instruction* ScatterOf(Builder* b, Instruction* columns, Instruction* updates,
                       Instruction* i) {
  ScatterAttrs a = i->attrs<ScatterAttrs>();
  a.update_window_dims = {0};
  a.inserted_window_dims = a.scatter_dims_to_operand_dims = {1};
  return b->Scatter({columns}, Flat(b, i->operand(1)), {updates}, i->to_apply(),
                    a);
}

// Points of several dimensions that are numbered, f32[16,224,224,3] as
// [802816,3], before that; null: others.
Instruction* NumberedPoints(const Instruction& table) {
  if (table.opcode() != Opcode::kReshape) return nullptr;
  Instruction* points = table.operand(0);
  return points->shape().rank() > 2 &&
                 points->shape().dims().back() == table.shape().dim(1)
             ? points
             : nullptr;
}

// The table of rows as columns, where it comes turned, numbered points too;
// null: it does not.
Instruction* AsColumns(Builder* b, MovingTransposes* moving,
                       Instruction* table) {
  if (moving->Moves(table)) return moving->Before(table, RowsForColumns());
  Instruction* points = NumberedPoints(*table);
  if (points == nullptr || !moving->Moves(points)) return nullptr;
  DimVector order;
  for (int d = 1; d < points->shape().rank(); ++d) order.push_back(d);
  order.push_back(0);
  return b->Reshape(moving->Before(points, order),
                    {table->shape().dim(1), table->shape().dim(0)});
}

}  // namespace

Instruction* OfTurnedTable(Builder* b, MovingTransposes* moving, Instruction* i,
                           int generation) {
  Instruction* x = i->operand(0);
  const Shape& table = x->shape();
  if (table.rank() != 2) return nullptr;
  const Shape columns =
      Shape::Array(table.type(), {table.dim(1), table.dim(0)});
  Instruction* made = nullptr;
  if (GathersRows(*i)) {
    if (!StaysColumns(columns, generation)) return nullptr;
    Instruction* turned = AsColumns(b, moving, x);
    if (turned != nullptr) made = GatherOf(b, turned, i);
  } else if (ScattersRows(*i) &&
             (moving->Moves(x)
                  ? StaysColumns(columns, generation)
                  : IsFreeWork(*x) && IsMadeAsColumns(columns, generation))) {
    made = ScatterOf(b, moving->Before(x, RowsForColumns()),
                     moving->Before(i->operand(2), RowsForColumns()), i);
  }
  return made == nullptr ? nullptr : moving->Behind(made, RowsForColumns());
}

}  // namespace ptxla::hlo

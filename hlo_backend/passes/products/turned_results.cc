#include "hlo_backend/passes/products/turned_results.h"

#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

// Rows and columns of a member that are worth a product of their own: those of
// 128 take 60 us on v6e, whose arrays have 256, where rows that are moved
// behind one product take 72. Fewer are ASSUMED to be none.
constexpr int64_t kLeast = 128;

// How many leading dimensions of `split` are the rows of [rows, columns].
std::optional<int> DimsOfRows(const Shape& split, int64_t rows) {
  int64_t size = 1;
  for (int d = 0; d < split.rank(); ++d) {
    if (size == rows && split.dim(d) != 1) return d;
    size *= split.dim(d);
  }
  return std::nullopt;
}

// Of dimensions [0, rows) and the columns behind them: how many stay in front
// of the columns, if that is all the order does.
std::optional<int> Leading(absl::Span<const int64_t> order, int rows) {
  int leading = 0;
  while (leading < rows && order[leading] == leading) ++leading;
  DimVector expected;
  for (int d = 0; d < leading; ++d) expected.push_back(d);
  for (int d = rows; d < static_cast<int>(order.size()); ++d) {
    expected.push_back(d);
  }
  for (int d = leading; d < rows; ++d) expected.push_back(d);
  if (leading == 0 || leading == rows ||
      order != absl::MakeConstSpan(expected)) {
    return std::nullopt;
  }
  return leading;
}

// Of dimensions of rows, [0, rows), and of columns behind them: how many of
// the columns come in front of the rows, if that is all the order does.
std::optional<int> LeadingColumns(absl::Span<const int64_t> order, int rows) {
  const auto rank = static_cast<int>(order.size());
  int leading = 0;
  while (rows + leading < rank && order[leading] == rows + leading) ++leading;
  DimVector expected;
  for (int d = 0; d < leading; ++d) expected.push_back(rows + d);
  for (int d = 0; d < rows; ++d) expected.push_back(d);
  for (int d = rows + leading; d < rank; ++d) expected.push_back(d);
  if (leading == 0 || rows + leading == rank ||
      order != absl::MakeConstSpan(expected)) {
    return std::nullopt;
  }
  return leading;
}

bool IsMatrixProduct(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.shape().rank() != 2) return false;
  const auto& a = dot.attrs<DotAttrs>();
  const PrimitiveType type = dot.operand(0)->shape().type();
  return a.lhs_batch.empty() && a.sparsity.empty() &&
         a.lhs_contracting.size() == 1 && a.rhs_contracting.size() == 1 &&
         dot.operand(0)->shape().rank() == 2 &&
         dot.operand(1)->shape().rank() == 2 &&
         (type == PrimitiveType::kBf16 || type == PrimitiveType::kF32);
}

// A product of which one side's rows are members of a batch.
struct Parted {
  int side = 0;  // operand that has the members, its K in lanes
  int64_t members = 1;
};

// Columns come in front of the last dimensions of rows, or leading dimensions
// of columns in front of the rows.
std::optional<Parted> PartsOf(const Instruction& dot,
                              const Instruction& transpose, int row_dims) {
  const Shape& split = transpose.operand(0)->shape();
  const auto& a = dot.attrs<DotAttrs>();
  const auto size = [&](int from, int to) {
    int64_t n = 1;
    for (int d = from; d < to; ++d) n *= split.dim(d);
    return n;
  };
  const auto rows = Leading(transpose.dimensions(), row_dims);
  if (rows.has_value() && a.lhs_contracting == DimVector{1}) {
    return Parted{0, size(0, *rows)};
  }
  const auto columns = LeadingColumns(transpose.dimensions(), row_dims);
  if (!columns.has_value() || a.rhs_contracting != DimVector{1}) {
    return std::nullopt;
  }
  const Parted parts = {1, size(row_dims, row_dims + *columns)};
  // Columns of whole tiles come apart where they are.
  if (dot.shape().dim(1) / parts.members % kLanes == 0) return std::nullopt;
  return parts;
}

// The value in these dimensions: rows of part of a tile that a reshape has
// joined, as they were.
Instruction* InDims(Builder* b, Instruction* x, const DimVector& dims) {
  if (dims[1] % kTileRows != 0 && x->opcode() == Opcode::kReshape &&
      x->operand(0)->shape().dims() == dims) {
    return x->operand(0);
  }
  return b->Reshape(x, dims);
}

// Null: another instruction.
Instruction* TurnedAsMembers(Instruction* transpose) {
  if (transpose->opcode() != Opcode::kTranspose) return nullptr;
  Instruction* split = transpose->operand(0);
  if (split->opcode() != Opcode::kReshape || split->user_count() != 1 ||
      HasControlEdges(*split)) {
    return nullptr;
  }
  Instruction* dot = split->operand(0);
  while (dot->opcode() == Opcode::kReshape && dot->user_count() == 1 &&
         !HasControlEdges(*dot)) {
    dot = dot->operand(0);
  }
  if (dot->user_count() != 1 || HasControlEdges(*dot) ||
      !IsMatrixProduct(*dot)) {
    return nullptr;
  }
  const auto row_dims = DimsOfRows(split->shape(), dot->shape().dim(0));
  if (!row_dims) return nullptr;
  const auto parts = PartsOf(*dot, *transpose, *row_dims);
  if (!parts) return nullptr;
  const int64_t members = parts->members;
  const int64_t each = dot->shape().dim(parts->side) / members;
  const int64_t shared_size = dot->shape().dim(1 - parts->side);
  if (members == 1 || each < kLeast || shared_size < kLeast) return nullptr;

  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Instruction *x = dot->operand(parts->side),
              *w = dot->operand(1 - parts->side);
  DotAttrs attrs = dot->attrs<DotAttrs>();
  const int64_t contracted =
      parts->side == 0 ? attrs.rhs_contracting[0] : attrs.lhs_contracting[0];
  attrs.lhs_batch = attrs.rhs_batch = {0};
  attrs.lhs_contracting = {contracted + 1};
  attrs.rhs_contracting = {2};
  auto& precision = attrs.precision.operands;
  if (parts->side == 0 && precision.size() == 2) {
    std::swap(precision[0], precision[1]);
  }
  Instruction* shared =
      b.Broadcast(w, {members, w->shape().dim(0), w->shape().dim(1)}, {1, 2});
  Instruction* product = dot->parent()->Add(
      Opcode::kDot,
      Shape::Array(dot->shape().type(), {members, shared_size, each}),
      {shared, InDims(&b, x, {members, each, x->shape().dim(1)})}, attrs);
  product->set_metadata(dot->shared_metadata());
  return product->shape().dims() == transpose->shape().dims()
             ? product
             : b.Reshape(product, transpose->shape().dims());
}

// [members,k,each] of weights that were turned and joined to [k, members*each]
// for one product; null: others.
Instruction* MembersOfWeights(Instruction* w, int64_t members, int64_t each) {
  if (w->opcode() != Opcode::kReshape || w->user_count() != 1) return nullptr;
  Instruction* turned = w->operand(0);
  if (turned->opcode() != Opcode::kTranspose || turned->user_count() != 1 ||
      turned->shape().rank() != 3 ||
      turned->dimensions() != absl::MakeConstSpan(DimVector{1, 0, 2}) ||
      turned->shape().dim(1) != members || turned->shape().dim(2) != each) {
    return nullptr;
  }
  return turned->operand(0);
}

// Products with each of several weights, whose results are to lie member by
// member as the weights do: neither is moved.
Instruction* AsMembersOfWeights(Instruction* transpose) {
  if (transpose->opcode() != Opcode::kTranspose ||
      transpose->shape().rank() != 3 ||
      transpose->dimensions() != absl::MakeConstSpan(DimVector{1, 0, 2})) {
    return nullptr;
  }
  Instruction* split = transpose->operand(0);
  if (split->opcode() != Opcode::kReshape || split->user_count() != 1 ||
      HasControlEdges(*split)) {
    return nullptr;
  }
  Instruction* dot = split->operand(0);
  if (dot->user_count() != 1 || HasControlEdges(*dot) ||
      !IsMatrixProduct(*dot) ||
      dot->attrs<DotAttrs>().rhs_contracting != DimVector{0} ||
      split->shape().dim(0) != dot->shape().dim(0)) {
    return nullptr;
  }
  const int64_t members = split->shape().dim(1), each = split->shape().dim(2);
  Instruction* w = MembersOfWeights(dot->operand(1), members, each);
  if (w == nullptr || members == 1 || each < kLeast) return nullptr;

  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Instruction* x = dot->operand(0);
  DotAttrs attrs = dot->attrs<DotAttrs>();
  attrs.lhs_batch = attrs.rhs_batch = {0};
  attrs.lhs_contracting = {attrs.lhs_contracting[0] + 1};
  attrs.rhs_contracting = {1};
  Instruction* shared =
      b.Broadcast(x, {members, x->shape().dim(0), x->shape().dim(1)}, {1, 2});
  Instruction* product = dot->parent()->Add(
      Opcode::kDot,
      Shape::Array(dot->shape().type(), transpose->shape().dims()), {shared, w},
      attrs);
  product->set_metadata(dot->shared_metadata());
  return product;
}

}  // namespace

absl::StatusOr<bool> TurnedResultsPass::Run(Module* module,
                                            const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      Instruction* value = TurnedAsMembers(i);
      if (value == nullptr) value = AsMembersOfWeights(i);
      if (value == nullptr) continue;
      c->Replace(i, value);
      here = true;
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo

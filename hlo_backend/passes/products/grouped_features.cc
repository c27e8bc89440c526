#include "hlo_backend/passes/products/grouped_features.h"

#include <numeric>
#include <vector>

#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Rows of a tile.
constexpr int64_t kRows = 8;

// [.. blocks, rows of a block, O]: whole groups of rows, one behind the other.
DimVector InBlocks(absl::Span<const int64_t> dims, int64_t blocks) {
  DimVector wide(dims.begin(), dims.end());
  const int64_t rows = wide[wide.size() - 2];
  wide[wide.size() - 2] = blocks;
  wide.insert(wide.end() - 1, rows / blocks);
  return wide;
}

Instruction* Number(Builder* b, int64_t n, const DimVector& dims) {
  return b->BroadcastScalar(
      b->ConstantScalar(PrimitiveType::kS32, static_cast<double>(n)), dims);
}

// Of [.. blocks, rows, O]: the first column of the group that the row is of.
// `groups` of all columns, `size` rows each.
Instruction* FirstColumn(Builder* b, const DimVector& dims, int64_t groups,
                         int64_t size) {
  const auto rank = static_cast<int64_t>(dims.size());
  const Shape index = Shape::Array(PrimitiveType::kS32, dims);
  const int64_t columns = dims.back() / groups;
  const int64_t groups_of_block = dims[rank - 2] / size;
  Instruction* first = b->Multiply(b->Iota(index, rank - 3),
                                   Number(b, groups_of_block * columns, dims));
  if (groups_of_block == 1) return first;
  // Parts of a tile: powers of two.
  int shift = 0;
  while (int64_t{1} << shift < size) ++shift;
  Instruction* in_block =
      b->ShiftRightLogical(b->Iota(index, rank - 2), Number(b, shift, dims));
  return b->Add(first, b->Multiply(in_block, Number(b, columns, dims)));
}

// Is the column among `columns` from `first` on?
Instruction* IsOwn(Builder* b, Instruction* first, int64_t columns) {
  const DimVector dims(first->shape().dims().begin(),
                       first->shape().dims().end());
  Instruction* column = b->Iota(first->shape(), first->shape().rank() - 1);
  if (columns == 1) return b->Compare(column, first, CompareDirection::kEq);
  return b->And(b->Compare(column, first, CompareDirection::kGe),
                b->Compare(column, b->Add(first, Number(b, columns, dims)),
                           CompareDirection::kLt));
}

Instruction* KeepWhere(Builder* b, Instruction* mask, Instruction* value) {
  return b->Select(mask, value,
                   b->BroadcastScalar(b->Zero(value->shape().type()),
                                      value->shape().dims()));
}

}  // namespace

Instruction* DenseKernel(Builder* b, Instruction* kernel, int64_t groups) {
  DimVector dims(kernel->shape().dims().begin(), kernel->shape().dims().end());
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t size = dims[rank - 2];
  const int64_t columns = dims.back() / groups;
  dims[rank - 2] = groups * size;
  if (size == 1) {
    DimVector row(dims);
    row.erase(row.end() - 2);
    Instruction* all = b->Broadcast(b->Reshape(kernel, row), dims,
                                    Others(static_cast<int>(rank), {rank - 2}));
    Instruction* group =
        b->Iota(Shape::Array(PrimitiveType::kS32, dims), rank - 2);
    Instruction* first =
        columns == 1 ? group : b->Multiply(group, Number(b, columns, dims));
    return KeepWhere(b, IsOwn(b, first, columns), all);
  }
  // Groups of less than a tile are repeated until they are blocks of tiles:
  // these follow one another in memory.
  int64_t repeats = kRows / std::gcd(kRows, size);
  if (groups % repeats != 0 || kRows % size != 0) repeats = 1;
  if (repeats > 1) {
    const std::vector<Instruction*> copies(repeats, kernel);
    kernel = b->Concatenate(copies, rank - 2);
  }
  const DimVector wide = InBlocks(dims, groups / repeats);
  Instruction* all = b->Broadcast(
      kernel, wide, Others(static_cast<int>(wide.size()), {rank - 2}));
  Instruction* own = IsOwn(b, FirstColumn(b, wide, groups, size), columns);
  return b->Reshape(KeepWhere(b, own, all), dims);
}

Instruction* OwnParts(Builder* b, Instruction* dense, int64_t groups) {
  const auto& dims = dense->shape().dims();
  const auto rank = static_cast<int64_t>(dims.size());
  const DimVector wide = InBlocks(dims, groups);
  const PrimitiveType type = dense->shape().type();
  Instruction* first = FirstColumn(b, wide, groups, wide[rank - 1]);
  Instruction* own = KeepWhere(b, IsOwn(b, first, wide.back() / groups),
                               b->Reshape(dense, wide));
  return b->Reduce(own, b->Zero(type), {rank - 2},
                   b->Scalar2(Opcode::kAdd, type));
}

}  // namespace ptxla::hlo

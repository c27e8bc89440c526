#include "hlo_backend/passes/expanders/row_indices.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {

RowIndices::RowIndices(Builder& b, const IndexedWindows& w) : b_(b), w_(w) {
  const Shape& indices = w_.indices->shape();
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == w_.index_vector_dim) continue;
    batch_.push_back(indices.dim(d));
    windows_ *= indices.dim(d);
  }
  count_ = windows_;
  for (int64_t d = 0; d < w_.operand->rank(); ++d) {
    if (!IsRow(d)) continue;
    order_.push_back(d);
    rows_ *= w_.operand->dim(d);
    count_ *= w_.sizes[d];
  }
  row_dims_ = static_cast<int>(order_.size());
  for (int64_t d = 0; d < w_.operand->rank(); ++d) {
    if (IsRow(d)) continue;
    order_.push_back(d);
    row_size_ *= w_.operand->dim(d);
  }
}

bool RowIndices::Removed(int64_t d) const {
  return Contains(w_.removed, d) || Contains(w_.batching, d);
}

Instruction* RowIndices::Table(Instruction* operand) {
  Instruction* t = b_.Transpose(operand, order_);
  return row_size_ == 1 ? b_.Reshape(t, {rows_})
                        : b_.Reshape(t, {rows_, row_size_});
}

Instruction* RowIndices::FromTable(Instruction* table) {
  DimVector sizes, back(order_.size(), 0);
  for (size_t k = 0; k < order_.size(); ++k) {
    sizes.push_back(w_.operand->dim(order_[k]));
    back[order_[k]] = static_cast<int64_t>(k);
  }
  return b_.Transpose(b_.Reshape(table, sizes), back);
}

DimVector RowIndices::named() const {
  DimVector sizes = batch_;
  for (int64_t d : order_) {
    if (!Removed(d)) sizes.push_back(w_.sizes[d]);
  }
  return sizes;
}

DimVector RowIndices::positions() const {
  DimVector at(w_.operand->rank(), -1);
  int64_t next = static_cast<int64_t>(batch_.size());
  for (int64_t d : order_) {
    if (!Removed(d)) at[d] = next++;
  }
  DimVector positions;
  for (int64_t p : at) {
    if (p >= 0) positions.push_back(p);
  }
  return positions;
}

// Cut out before it is made flat: of vectors that were put together out of
// single numbers nothing is left.
Instruction* RowIndices::Column(int64_t k) {
  const Shape& shape = w_.indices->shape();
  Instruction* column = w_.indices;
  if (w_.index_map.size() > 1) {
    DimVector starts(shape.rank(), 0), limits = shape.dims();
    starts[w_.index_vector_dim] = k;
    limits[w_.index_vector_dim] = k + 1;
    column = b_.Slice(column, starts, limits);
  }
  column = b_.Reshape(column, {windows_});
  return BitWidth(shape.type()) < 32 ? b_.Convert(column, kS32) : column;
}

Instruction* RowIndices::ClampedColumn(int64_t k) {
  Instruction* x = Column(k);
  const PrimitiveType type = x->shape().type();
  const int64_t d = w_.index_map[k];
  Instruction* most = b_.BroadcastScalar(
      b_.ConstantScalar(type,
                        static_cast<double>(w_.operand->dim(d) - w_.sizes[d])),
      {windows_});
  x = b_.Minimum(x, most);
  if (type == kS32) {
    return b_.Maximum(x, b_.BroadcastScalar(b_.Zero(kS32), {windows_}));
  }
  return b_.Convert(x, kS32);
}

// Each index lies where its window still ends inside of the operand.
Instruction* RowIndices::AllInside() {
  Instruction* inside = nullptr;
  for (size_t k = 0; k < w_.index_map.size(); ++k) {
    Instruction* x = Column(static_cast<int64_t>(k));
    const PrimitiveType type = x->shape().type();
    const int64_t d = w_.index_map[k];
    Instruction* most = b_.BroadcastScalar(
        b_.ConstantScalar(
            type, static_cast<double>(w_.operand->dim(d) - w_.sizes[d])),
        {windows_});
    Instruction* one = b_.Compare(x, most, CompareDirection::kLe);
    if (type == kS32) {
      Instruction* zero = b_.BroadcastScalar(b_.Zero(kS32), {windows_});
      one = b_.And(one, b_.Compare(x, zero, CompareDirection::kGe));
    }
    inside = inside == nullptr ? one : b_.And(inside, one);
  }
  return inside;
}

Instruction* RowIndices::RowsFrom(Instruction* inside, int begin, int end) {
  const Shape windows = Shape::Array(kS32, {windows_});
  Instruction* row = b_.BroadcastScalar(b_.Zero(kS32), {windows_});
  DimVector places;            // of the rows of a window
  std::vector<int64_t> steps;  // rows from one to the next
  int64_t stride = SizeOf(begin, end);
  for (int k = 0; k < row_dims_; ++k) {
    const int64_t d = order_[k];
    const bool counts = begin <= k && k < end;
    if (counts) stride /= w_.operand->dim(d);
    if (!Removed(d) && w_.sizes[d] > 1) {
      places.push_back(w_.sizes[d]);
      steps.push_back(counts ? stride : 0);
    }
    if (!counts) continue;
    Instruction* start = nullptr;
    const auto index = std::find(w_.index_map.begin(), w_.index_map.end(), d);
    const auto batching = std::find(w_.batching.begin(), w_.batching.end(), d);
    if (index != w_.index_map.end()) {
      start = ClampedColumn(index - w_.index_map.begin());
    } else if (batching != w_.batching.end()) {
      // The index counts along a dimension of the indices.
      int64_t along = w_.indices_batching[batching - w_.batching.begin()];
      if (along > w_.index_vector_dim) --along;
      start =
          b_.Reshape(b_.Iota(Shape::Array(kS32, batch_), along), {windows_});
    }
    if (start != nullptr) {
      Instruction* by = b_.BroadcastScalar(
          b_.ConstantScalar(kS32, static_cast<double>(stride)), {windows_});
      row = b_.Add(row, stride == 1 ? start : b_.Multiply(start, by));
    }
  }
  if (inside != nullptr) {
    Instruction* none =
        b_.BroadcastScalar(b_.ConstantScalar(kS32, -1), {windows_});
    row = b_.Select(inside, row, none);
  }
  if (places.empty()) return row;
  // The windows lie in lanes, however few rows each has.
  const DimVector all_dims = {count_ / windows_, windows_};
  Instruction* all =
      b_.Add(b_.Broadcast(row, all_dims, {1}),
             b_.Broadcast(OffsetsOf(places, steps), all_dims, {0}));
  if (inside != nullptr) {
    all = b_.Select(b_.Broadcast(inside, all_dims, {1}), all,
                    b_.BroadcastScalar(b_.ConstantScalar(kS32, -1), all_dims));
  }
  return b_.Reshape(b_.Transpose(all, {1, 0}), {count_});
}

Instruction* RowIndices::OffsetsOf(const DimVector& places,
                                   const std::vector<int64_t>& steps) {
  Instruction* all = nullptr;
  for (size_t d = 0; d < places.size(); ++d) {
    Instruction* step = b_.BroadcastScalar(
        b_.ConstantScalar(kS32, static_cast<double>(steps[d])), places);
    Instruction* along = b_.Multiply(
        b_.Iota(Shape::Array(kS32, places), static_cast<int64_t>(d)), step);
    all = all == nullptr ? along : b_.Add(all, along);
  }
  return b_.Reshape(all, {count_ / windows_});
}

int64_t RowIndices::SizeOf(int begin, int end) const {
  int64_t size = 1;
  for (int k = begin; k < end; ++k) size *= w_.operand->dim(order_[k]);
  return size;
}

Instruction* RowIndices::Clamped() { return RowsFrom(nullptr, 0, row_dims_); }
Instruction* RowIndices::OrNone() {
  return RowsFrom(AllInside(), 0, row_dims_);
}

int RowIndices::table_rank() const { return std::min(row_dims_, kMostIndexed); }

Instruction* RowIndices::ElementTable(Instruction* operand) {
  const int planes = row_dims_ - table_rank() + 1;
  DimVector sizes = {SizeOf(0, planes)};
  for (int k = planes; k < row_dims_; ++k) sizes.push_back(SizeOf(k, k + 1));
  return b_.Reshape(operand, sizes);
}

Instruction* RowIndices::ClampedElements() {
  const int planes = row_dims_ - table_rank() + 1;
  std::vector<Instruction*> along = {RowsFrom(nullptr, 0, planes)};
  for (int k = planes; k < row_dims_; ++k) {
    along.push_back(RowsFrom(nullptr, k, k + 1));
  }
  for (Instruction*& i : along) i = b_.Reshape(i, {1, count_});
  return b_.Concatenate(along, 0);
}

std::vector<Instruction*> RowIndices::Starts() {
  std::vector<Instruction*> starts(w_.operand->rank(), b_.Zero(kS32));
  for (size_t k = 0; k < w_.index_map.size(); ++k) {
    starts[w_.index_map[k]] =
        b_.Reshape(ClampedColumn(static_cast<int64_t>(k)), {});
  }
  return starts;
}

Instruction* RowIndices::Inside() {
  Instruction* inside = AllInside();
  return inside == nullptr ? nullptr : b_.Reshape(inside, {});
}

}  // namespace ptxla::hlo

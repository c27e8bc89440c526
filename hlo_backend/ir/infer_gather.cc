#include "base/status.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

// Dimensions of the indices without index_vector_dim.
absl::StatusOr<DimVector> BatchDims(const Shape& indices, int64_t vector_dim,
                                    size_t map_size) {
  if (!IsInteger(indices.type())) {
    return Fail("indices are ", Text(indices), ", not integers");
  }
  if (vector_dim < 0 || vector_dim > indices.rank()) {
    return Fail("index_vector_dim=", vector_dim, " is not a dimension of ",
                Text(indices));
  }
  const int64_t components = vector_dim == indices.rank()
                                 ? 1
                                 : indices.dim(static_cast<int>(vector_dim));
  if (!SizesAgree(components, static_cast<int64_t>(map_size))) {
    return Fail("indices ", Text(indices), " have ", components,
                " components, the map has ", map_size);
  }
  DimVector dims;
  for (int i = 0; i < indices.rank(); ++i) {
    if (i != vector_dim) dims.push_back(indices.dim(i));
  }
  return dims;
}

Result Gather(const Args& a) {
  const GatherAttrs& g = *a.attrs<GatherAttrs>();
  const Shape &x = a.operand(0), &indices = a.operand(1);
  RETURN_IF_ERROR(CheckArray(x, "the operand"));
  ASSIGN_OR_RETURN(DimVector batch, BatchDims(indices, g.index_vector_dim,
                                              g.start_index_map.size()));
  RETURN_IF_ERROR(CheckDims("start_index_map=", g.start_index_map, x.rank()));
  RETURN_IF_ERROR(
      CheckDims("collapsed_slice_dims=", g.collapsed_slice_dims, x.rank()));
  RETURN_IF_ERROR(
      CheckDims("operand_batching_dims=", g.operand_batching_dims, x.rank()));
  if (static_cast<int>(g.slice_sizes.size()) != x.rank()) {
    return Fail("slice_sizes= has ", g.slice_sizes.size(),
                " entries, the operand ", Text(x), " has ", x.rank());
  }
  DimVector window;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = g.slice_sizes[i];
    if (size < 0 || (x.dim(i) >= 0 && size > x.dim(i))) {
      return Fail("slice size ", size, " exceeds dimension ", i, " of ",
                  Text(x));
    }
    if (Contains(g.collapsed_slice_dims, i) ||
        Contains(g.operand_batching_dims, i)) {
      if (size > 1) return Fail("collapsed dimension ", i, " has size ", size);
    } else {
      window.push_back(size);
    }
  }
  if (window.size() != g.offset_dims.size()) {
    return Fail("offset_dims= has ", g.offset_dims.size(), " entries for ",
                window.size(), " slice dimensions");
  }
  const int rank = static_cast<int>(batch.size() + window.size());
  RETURN_IF_ERROR(CheckDims("offset_dims=", g.offset_dims, rank));
  Shape shape = Shape::Array(x.type(), {});
  size_t next_batch = 0, next_window = 0;
  for (int i = 0; i < rank; ++i) {
    shape.add_dim(Contains(g.offset_dims, i) ? window[next_window++]
                                             : batch[next_batch++]);
  }
  return shape;
}

Result Scatter(const Args& a) {
  const ScatterAttrs& s = *a.attrs<ScatterAttrs>();
  if (a.operand_count() < 3 || a.operand_count() % 2 == 0) {
    return Fail("scatter takes N operands, indices, N updates, not ",
                a.operand_count(), " in all");
  }
  const int n = a.operand_count() / 2;
  const Shape& indices = a.operand(n);
  ASSIGN_OR_RETURN(DimVector batch,
                   BatchDims(indices, s.index_vector_dim,
                             s.scatter_dims_to_operand_dims.size()));
  std::vector<Shape> results;
  for (int k = 0; k < n; ++k) {
    const Shape &x = a.operand(k), &update = a.operand(n + 1 + k);
    RETURN_IF_ERROR(CheckArray(x, "the operand"));
    RETURN_IF_ERROR(CheckArray(update, "the update"));
    const size_t want = batch.size() + s.update_window_dims.size();
    if (update.rank() != static_cast<int>(want)) {
      return Fail("update ", Text(update), " has ", update.rank(),
                  " dimensions, the dimension numbers say ", want);
    }
    RETURN_IF_ERROR(
        CheckDims("update_window_dims=", s.update_window_dims, update.rank()));
    RETURN_IF_ERROR(CheckDims("scatter_dims_to_operand_dims=",
                              s.scatter_dims_to_operand_dims, x.rank()));
    RETURN_IF_ERROR(
        CheckDims("inserted_window_dims=", s.inserted_window_dims, x.rank()));
    if (x.rank() != static_cast<int>(s.update_window_dims.size() +
                                     s.inserted_window_dims.size() +
                                     s.input_batching_dims.size())) {
      return Fail("operand ", Text(x), " does not have the ",
                  s.update_window_dims.size(), " window and ",
                  s.inserted_window_dims.size(), " inserted dimensions");
    }
    int operand_dim = 0;
    size_t next_batch = 0;
    for (int i = 0; i < update.rank(); ++i) {
      if (!Contains(s.update_window_dims, i)) {
        if (!SizesAgree(update.dim(i), batch[next_batch++])) {
          return Fail("update ", Text(update), " does not fit indices ",
                      Text(indices));
        }
        continue;
      }
      while (Contains(s.inserted_window_dims, operand_dim) ||
             Contains(s.input_batching_dims, operand_dim)) {
        ++operand_dim;
      }
      if (x.dim(operand_dim) >= 0 && update.dim(i) > x.dim(operand_dim)) {
        return Fail("update ", Text(update), " exceeds operand ", Text(x));
      }
      ++operand_dim;
    }
    results.push_back(Like(x, x.type()));
  }
  return OneOrTuple(std::move(results));
}

}  // namespace

Result GatherScatter(const Args& a) {
  return a.opcode == Opcode::kGather ? Gather(a) : Scatter(a);
}

}  // namespace ptxla::hlo::infer

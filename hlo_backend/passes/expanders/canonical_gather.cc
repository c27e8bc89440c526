#include "hlo_backend/passes/expanders/canonical_gather.h"

#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/whole_planes.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/expanders/canonical_rows.h"
#include "hlo_backend/passes/expanders/gathered_planes.h"
#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {
namespace {

bool IsCanonicalGather(const Instruction& gather) {
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& x = gather.operand(0)->shape();
  const Shape& indices = gather.operand(1)->shape();
  if (GathersElements(gather)) return BitWidth(x.type()) == 32 || x.rank() > 1;
  if (a.start_index_map != DimVector{0} ||
      a.collapsed_slice_dims != DimVector{0} ||
      !a.operand_batching_dims.empty() ||
      !IsRowIndex(indices, a.index_vector_dim)) {
    return false;
  }
  if (GathersPlanes(gather)) {
    const DimVector plane(x.dims().begin() + 1, x.dims().end());
    return AreCopiedAsTheyLie(x.type(), plane, x.dim(0), indices.dim(0));
  }
  return x.rank() == 2 && a.offset_dims == DimVector{1} &&
         a.slice_sizes[1] == x.dim(1);
}

// Constants and counts are folded; what bounds them need not be bounded again.
bool NeedsBounds(const Instruction& indices) {
  return indices.opcode() != Opcode::kClamp && !indices.IsConstant() &&
         indices.opcode() != Opcode::kIota;
}

class GatherRewriter {
 public:
  explicit GatherRewriter(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Run() {
    const auto& a = i_->attrs<GatherAttrs>();
    Instruction* x = i_->operand(0);
    if (IsCanonicalGather(*i_)) return WithFlatIndices();
    if (!HaveRows(x->shape(), i_->operand(1)->shape())) return nullptr;
    x = WithoutRest(x, a);
    RowIndices rows(
        b_, {&x->shape(), i_->operand(1), a.index_vector_dim, a.start_index_map,
             a.operand_batching_dims, a.start_indices_batching_dims,
             a.collapsed_slice_dims, a.slice_sizes});
    Instruction* named = nullptr;
    if (IsOneWindow(rows) && a.operand_batching_dims.empty()) {
      Instruction* window = b_.DynamicSlice(x, rows.Starts(), a.slice_sizes);
      named = b_.Reshape(b_.Transpose(window, rows.order()), rows.named());
    } else if (rows.rows() == 1) {
      named = Repeated(x, rows);
    } else {
      named = b_.Reshape(Rows(x, rows), rows.named());
    }
    // Batch dimensions stand where no offset dimension does.
    const DimVector at = rows.positions();
    DimVector order;
    int64_t batch = 0;
    size_t offset = 0;
    for (int64_t d = 0; d < i_->shape().rank(); ++d) {
      const bool is_offset = Contains(a.offset_dims, d);
      order.push_back(is_offset ? at[offset++] : batch++);
    }
    return b_.Transpose(named, order);
  }

 private:
  // Numbers of rows are bounded before the gather, with what computes them or
  // by a kernel (analysis/bounded_rows.h).
  Instruction* WithFlatIndices() {
    if (GathersElements(*i_)) return nullptr;
    Instruction* indices = i_->operand(1);
    Instruction* flat = FlatIndices(b_, indices);
    if (NeedsBounds(*indices)) {
      flat = Bounded(flat, i_->operand(0)->shape().dim(0) - 1);
    }
    return flat == indices ? nullptr : WithIndices(b_, *i_, flat);
  }

  // Scalars are read by a kernel that does this alone.
  Instruction* Bounded(Instruction* x, int64_t last) {
    const PrimitiveType type = x->shape().type();
    Instruction* low = b_.Zero(type);
    Instruction* high = b_.ConstantScalar(type, static_cast<double>(last));
    if (!ArePadded(x->shape())) {
      low = b_.BroadcastScalar(low, x->shape().dims());
      high = b_.BroadcastScalar(high, x->shape().dims());
    }
    return b_.Clamp(low, x, high);
  }

  // Without what windows leave out in dimensions that are not indexed.
  Instruction* WithoutRest(Instruction* x, const GatherAttrs& a) {
    DimVector starts(x->shape().rank(), 0), limits;
    bool cut = false;
    for (int64_t d = 0; d < x->shape().rank(); ++d) {
      limits.push_back(x->shape().dim(d));
      if (Contains(a.start_index_map, d) ||
          Contains(a.operand_batching_dims, d)) {
        continue;
      }
      cut |= a.slice_sizes[d] != limits.back();
      limits.back() = a.slice_sizes[d];
    }
    return cut ? b_.Slice(x, starts, limits) : x;
  }

  // Every window is the whole operand.
  Instruction* Repeated(Instruction* x, const RowIndices& rows) {
    const DimVector named = rows.named();
    DimVector sizes, dims;
    for (size_t d = rows.batch().size(); d < named.size(); ++d) {
      sizes.push_back(named[d]);
      dims.push_back(static_cast<int64_t>(d));
    }
    Instruction* window = b_.Reshape(b_.Transpose(x, rows.order()), sizes);
    return b_.Broadcast(window, named, dims);
  }

  Instruction* Rows(Instruction* x, RowIndices& rows) {
    const PrimitiveType type = x->shape().type();
    if (Instruction* planes = GatherPlanes(b_, *i_, x, rows)) return planes;
    if (rows.row_size() == 1 && rows.table_rank() > 1) {
      return Elements(x, rows);
    }
    const bool elements = rows.row_size() == 1;
    Instruction* table = rows.Table(x);
    if (elements) table = As(b_, table, TypeOf32Bits(type));
    GatherAttrs a;
    a.collapsed_slice_dims = {0};
    a.start_index_map = {0};
    a.index_vector_dim = 1;
    a.slice_sizes = {1};
    if (!elements) {
      a.offset_dims = {1};
      a.slice_sizes.push_back(rows.row_size());
    }
    return As(b_, b_.Gather(table, rows.Clamped(), a), type);
  }

  // By their indices along the table's dimensions: made flat it would be
  // another array.
  Instruction* Elements(Instruction* x, RowIndices& rows) {
    const PrimitiveType type = x->shape().type();
    const bool has_kernel = BitWidth(type) >= 8 && type != PrimitiveType::kPred;
    GatherAttrs a;
    a.index_vector_dim = 0;
    for (int64_t d = 0; d < rows.table_rank(); ++d) {
      a.collapsed_slice_dims.push_back(d);
      a.start_index_map.push_back(d);
      a.slice_sizes.push_back(1);
    }
    Instruction* table = rows.ElementTable(x);
    if (!has_kernel) table = As(b_, table, TypeOf32Bits(type));
    return As(b_, b_.Gather(table, rows.ClampedElements(), a), type);
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

Instruction* CanonicalGather(Instruction* gather) {
  return GatherRewriter(gather).Run();
}

}  // namespace ptxla::hlo

#include "hlo_backend/passes/expanders/gather_canonicalizer.h"

#include <vector>

#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/plane_scatter.h"
#include "hlo_backend/analysis/scatter_body.h"
#include "hlo_backend/analysis/whole_planes.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/expanders/gathered_planes.h"
#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {
namespace {

// The type of 32 bits that holds every value of `type`.
PrimitiveType Wide(PrimitiveType type) {
  if (BitWidth(type) == 32) return type;
  return IsFloat(type) ? PrimitiveType::kF32 : kS32;
}

bool IsSupported(const Shape& x, const Shape& indices) {
  return !IsComplex(x.type()) && BitWidth(x.type()) <= 32 &&
         BitWidth(indices.type()) <= 32 && x.ElementCount() > 0 &&
         indices.ElementCount() > 0;
}

// s32[N], or as JAX and torch_xla write it [N, 1].
bool IsRowIndex(const Shape& indices, int64_t index_vector_dim) {
  return index_vector_dim == 1 && BitWidth(indices.type()) == 32 &&
         (indices.rank() == 1 || (indices.rank() == 2 && indices.dim(1) == 1));
}

bool IsCanonical(const Instruction& gather) {
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

bool IsCanonicalScatter(const Instruction& scatter) {
  const auto& a = scatter.attrs<ScatterAttrs>();
  if (scatter.operand_count() != 3) return false;
  if (ReplacesPlanes(scatter) || ScattersPlanes(scatter)) return true;
  const Shape& x = scatter.operand(0)->shape();
  const Shape& indices = scatter.operand(1)->shape();
  const Shape& updates = scatter.operand(2)->shape();
  if (a.scatter_dims_to_operand_dims != DimVector{0} ||
      a.inserted_window_dims != DimVector{0} ||
      !a.input_batching_dims.empty() || BitWidth(x.type()) != 32 ||
      !IsRowIndex(indices, a.index_vector_dim)) {
    return false;
  }
  if (x.rank() == 1) return indices.rank() == 1;
  return x.rank() == 2 && a.update_window_dims == DimVector{1} &&
         updates.dim(1) == x.dim(1);
}

// Constants and counts are folded; what bounds them need not be bounded again.
bool NeedsBounds(const Instruction& indices) {
  return indices.opcode() != Opcode::kClamp && !indices.IsConstant() &&
         indices.opcode() != Opcode::kIota;
}

class GatherCanonicalizer {
 public:
  explicit GatherCanonicalizer(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Gather() {
    const auto& a = i_->attrs<GatherAttrs>();
    Instruction* x = i_->operand(0);
    if (IsCanonical(*i_)) return WithFlatIndices();
    if (!IsSupported(x->shape(), i_->operand(1)->shape())) return nullptr;
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

  Instruction* Scatter() {
    const int arrays = (i_->operand_count() - 1) / 2;
    if (IsCanonicalScatter(*i_)) return WithFlatIndices();
    for (int k = 0; k < arrays; ++k) {
      if (!IsSupported(i_->operand(k)->shape(), i_->operand(arrays)->shape()) ||
          i_->operand(arrays + 1 + k)->shape().ElementCount() == 0) {
        return nullptr;
      }
    }
    std::vector<Computation*> bodies;
    for (int k = 0; k < arrays; ++k) {
      Computation* body = BodyOf(k, arrays);
      if (body == nullptr) return nullptr;
      bodies.push_back(body);
    }
    std::vector<Instruction*> results;
    results.reserve(arrays);
    for (int k = 0; k < arrays; ++k) {
      results.push_back(One(i_->operand(k), i_->operand(arrays),
                            i_->operand(arrays + 1 + k), bodies[k]));
    }
    return arrays == 1 ? results[0] : b_.Tuple(results);
  }

 private:
  // Numbers of rows lie along lanes, as the scalar unit reads them: a column
  // of them would be a row of memory each. Those of a gather are bounded before
  // it, with what computes them or by a kernel (analysis/bounded_rows.h).
  Instruction* WithFlatIndices() {
    if (i_->opcode() == Opcode::kGather && GathersElements(*i_)) return nullptr;
    Instruction* indices = i_->operand(1);
    Instruction* flat = indices;
    if (indices->shape().rank() > 1) {
      flat = b_.Reshape(indices, {indices->shape().dim(0)});
    }
    if (i_->opcode() == Opcode::kGather && NeedsBounds(*indices)) {
      flat = Bounded(flat, i_->operand(0)->shape().dim(0) - 1);
    }
    if (flat == indices) return nullptr;
    std::vector<Instruction*> operands(i_->operands().begin(),
                                       i_->operands().end());
    operands[1] = flat;
    return i_->parent()->AddLike(*i_, i_->shape(), operands);
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

  static bool IsOneWindow(const RowIndices& rows) {
    for (int64_t size : rows.batch()) {
      if (size != 1) return false;
    }
    return true;
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
    if (elements) table = As(table, Wide(type));
    GatherAttrs a;
    a.collapsed_slice_dims = {0};
    a.start_index_map = {0};
    a.index_vector_dim = 1;
    a.slice_sizes = {1};
    if (!elements) {
      a.offset_dims = {1};
      a.slice_sizes.push_back(rows.row_size());
    }
    return As(b_.Gather(table, rows.Clamped(), a), type);
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
    if (!has_kernel) table = As(table, Wide(type));
    return As(b_.Gather(table, rows.ClampedElements(), a), type);
  }

  Instruction* As(Instruction* x, PrimitiveType type) {
    return x->shape().type() == type ? x : b_.Convert(x, type);
  }

  // The body of array `k` alone: the same where there is one; else what it is
  // of its own two parameters. nullptr: it is not one operation.
  Computation* BodyOf(int k, int arrays) {
    Computation* body = i_->to_apply();
    if (!IsOneOperation(*body, k, arrays)) return nullptr;
    if (arrays == 1) return body;
    const Instruction* value = body->root()->operand(k);
    const PrimitiveType type = value->shape().type();
    if (value->opcode() == Opcode::kParameter) return Second(type);
    return b_.Scalar2(value->opcode(), type);
  }

  // (x, y) -> y
  Computation* Second(PrimitiveType type) {
    Computation* c = b_.module()->AddComputation("second");
    const Shape scalar = Shape::Array(type, {});
    c->AddParameter(0, scalar);
    c->SetRoot(c->AddParameter(1, scalar));
    return c;
  }

  Instruction* One(Instruction* x, Instruction* indices, Instruction* updates,
                   Computation* body) {
    const auto& a = i_->attrs<ScatterAttrs>();
    const PrimitiveType type = x->shape().type();
    DimVector sizes;
    size_t window = 0;
    DimVector order;  // of the updates: those of the indices first
    for (int64_t d = 0; d < updates->shape().rank(); ++d) {
      if (!Contains(a.update_window_dims, d)) order.push_back(d);
    }
    const int64_t batch = static_cast<int64_t>(order.size());
    for (int64_t d = 0; d < x->shape().rank(); ++d) {
      const bool none = Contains(a.inserted_window_dims, d) ||
                        Contains(a.input_batching_dims, d);
      sizes.push_back(
          none ? 1 : updates->shape().dim(a.update_window_dims[window]));
      if (!none) ++window;
    }
    RowIndices rows(
        b_, {&x->shape(), indices, a.index_vector_dim,
             a.scatter_dims_to_operand_dims, a.input_batching_dims,
             a.scatter_indices_batching_dims, a.inserted_window_dims, sizes});
    if (IsOneWindow(rows) && a.input_batching_dims.empty()) {
      return Update(x, updates, body, rows, sizes, order);
    }
    // Window dimensions in the order of the table.
    const DimVector at = rows.positions();
    DimVector windows(at.size(), 0);
    for (size_t k = 0; k < at.size(); ++k) {
      windows[at[k] - batch] = a.update_window_dims[k];
    }
    order.insert(order.end(), windows.begin(), windows.end());
    Instruction* u = b_.Transpose(updates, order);
    if (ReplacesOldValue(*body)) {
      Instruction* planes = ReplacePlanes(b_, *i_, x, u, sizes, body, rows);
      if (planes != nullptr) return planes;
    }
    const bool elements = rows.row_size() == 1;
    u = elements ? b_.Reshape(u, {rows.count()})
                 : b_.Reshape(u, {rows.count(), rows.row_size()});
    const PrimitiveType wide = Wide(type);
    Computation* combine = body;
    if (wide != type) {
      combine = ReplacesOldValue(*body) ? Second(wide)
                                        : b_.Scalar2(*MonoidOf(*body), wide);
    }
    ScatterAttrs s;
    if (!elements) s.update_window_dims = {1};
    s.inserted_window_dims = {0};
    s.scatter_dims_to_operand_dims = {0};
    s.index_vector_dim = 1;
    s.unique_indices = a.unique_indices && rows.count() > 1;
    Instruction* table = b_.Scatter({As(rows.Table(x), wide)}, rows.OrNone(),
                                    {As(u, wide)}, combine, s);
    return rows.FromTable(As(table, type));
  }

  // One window, if it is inside.
  Instruction* Update(Instruction* x, Instruction* updates,
                      const Computation* body, RowIndices& rows,
                      const DimVector& sizes, DimVector order) {
    const auto& a = i_->attrs<ScatterAttrs>();
    order.insert(order.end(), a.update_window_dims.begin(),
                 a.update_window_dims.end());
    Instruction* u = b_.Reshape(b_.Transpose(updates, order), sizes);
    const std::vector<Instruction*> starts = rows.Starts();
    Instruction* inside = rows.Inside();
    const bool replaces = ReplacesOldValue(*body);
    if (inside != nullptr || !replaces) {
      Instruction* old = b_.DynamicSlice(x, starts, sizes);
      if (!replaces) u = b_.Binary(*MonoidOf(*body), old, u);
      if (inside != nullptr) {
        u = b_.Select(b_.BroadcastScalar(inside, sizes), u, old);
      }
    }
    return b_.DynamicUpdateSlice(x, u, starts);
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> GatherCanonicalizerPass::Run(Module* module,
                                                  const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* canonical = nullptr;
      if (i->opcode() == Opcode::kGather) {
        canonical = GatherCanonicalizer(i).Gather();
      } else if (i->opcode() == Opcode::kScatter) {
        canonical = GatherCanonicalizer(i).Scatter();
      }
      if (canonical == nullptr) continue;
      c->Replace(i, canonical);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

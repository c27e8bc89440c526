#include "hlo_backend/passes/expanders/canonical_scatter.h"

#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_scatter.h"
#include "hlo_backend/analysis/scatter_body.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/expanders/canonical_rows.h"
#include "hlo_backend/passes/expanders/gathered_planes.h"
#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {
namespace {

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

class ScatterRewriter {
 public:
  explicit ScatterRewriter(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Run() {
    const int arrays = (i_->operand_count() - 1) / 2;
    if (IsCanonicalScatter(*i_)) {
      Instruction* flat = FlatIndices(b_, i_->operand(1));
      return flat == i_->operand(1) ? nullptr : WithIndices(b_, *i_, flat);
    }
    for (int k = 0; k < arrays; ++k) {
      if (!HaveRows(i_->operand(k)->shape(), i_->operand(arrays)->shape()) ||
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
    const PrimitiveType wide = TypeOf32Bits(type);
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
    Instruction* table =
        b_.Scatter({As(b_, rows.Table(x), wide)}, rows.OrNone(),
                   {As(b_, u, wide)}, combine, s);
    return rows.FromTable(As(b_, table, type));
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

Instruction* CanonicalScatter(Instruction* scatter) {
  return ScatterRewriter(scatter).Run();
}

}  // namespace ptxla::hlo

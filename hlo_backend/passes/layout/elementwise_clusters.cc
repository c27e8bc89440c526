#include "hlo_backend/passes/layout/elementwise_clusters.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "base/union_find.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

int64_t MinorDim(const Shape& shape) {
  for (int d = shape.rank(); d-- > 0;) {
    if (shape.dim(d) != 1) return shape.dim(d);
  }
  return 1;
}

bool IsFlexible(const Instruction& i) {
  return i.opcode() == Opcode::kBroadcast || i.opcode() == Opcode::kIota;
}

// Rows of a tile: a second-minor dimension of whole tiles may be joined.
int64_t TileRows(PrimitiveType type) { return BitWidth(type) <= 8 ? 32 : 8; }

// A product of [.., C, rows], a member for each plane of them.
bool HasTurnedRows(const Instruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const int rank = dot.operand(0)->shape().rank();
  return rank >= 3 && dot.shape().rank() == rank && attrs.lhs_batch.empty() &&
         attrs.lhs_contracting == DimVector{rank - 2} &&
         DropUnitDims(dot.shape().dims()).size() == dot.shape().dims().size();
}

// Collects what members and neighbours ask of the shape.
class Chooser {
 public:
  explicit Chooser(const std::vector<Instruction*>& members)
      : members_(members), elements_(members[0]->shape().ElementCount()) {}

  // Nothing when one shape serves already, or none does.
  bool Choose(DimVector* dims) {
    for (const Instruction* m : members_) Collect(*m);
    if (shapes_.size() < 2) return false;
    Cuts cuts = hard_;
    // Ask of each wanted cut whether more arrays gain than lose by it.
    for (const auto& [cut, votes] : wanted_) {
      int against = 0;
      for (const auto& [dot_cuts, count] : dots_) {
        if (!HasCut(dot_cuts, cut)) against += count;
      }
      if (votes >= against) AddCut(&cuts, cut);
    }
    if (!IsChain(cuts, elements_)) return false;
    *dims = DimsOf(cuts, elements_);
    return true;
  }

 private:
  void Want(const Cuts& cuts) {
    for (int64_t c : cuts) ++wanted_[c];
  }

  // A value at the border must not move bytes on its way in or out.
  void Border(const Instruction& value) {
    const DimVector dims = DropUnitDims(value.shape().dims());
    shapes_.insert({value.shape().dims().begin(), value.shape().dims().end()});
    const int rank = static_cast<int>(dims.size());
    if (rank >= 3 && dims[rank - 2] % TileRows(value.shape().type()) != 0) {
      AddCut(&hard_, dims[rank - 1] * dims[rank - 2]);
    }
    if (value.opcode() == Opcode::kDot) {
      ++dots_[CutsOf(value.shape().dims())];
      if (HasTurnedRows(value)) Want({dims[rank - 1] * dims[rank - 2]});
      if (!value.attrs<DotAttrs>().lhs_batch.empty()) Want(CutsOf(dims));
    }
  }

  void Collect(const Instruction& m) {
    const DimVector& dims = m.shape().dims();
    shapes_.insert({dims.begin(), dims.end()});
    const int64_t minor = MinorDim(m.shape());
    if (minor > 1 && minor < elements_) AddCut(&hard_, minor);
    bool is_border = m.IsRoot();
    for (const Instruction* o : m.operands()) {
      if (o->opcode() == Opcode::kBroadcast) {
        if (seen_.insert(o).second) {
          Want(CutsOfBroadcast(o->shape().dims(), o->dimensions()));
        }
      } else if (o->opcode() == Opcode::kIota) {
        const int64_t d = o->attrs<IotaAttrs>().dimension;
        Want(CutsOfBroadcast(o->shape().dims(), {d}));
      } else if (!IsClusterMember(*o) && seen_.insert(o).second) {
        Border(*o);
        // Rows keep the dimensions of the arrays that they come from.
        if (o->opcode() == Opcode::kReduce) Want(CutsOf(o->shape().dims()));
      }
    }
    for (const Instruction* u : m.users()) {
      if (u->opcode() == Opcode::kReduce && u->operand_count() == 2) {
        if (seen_.insert(u).second) {
          Want(CutsOfReduce(dims, u->dimensions()));
        }
      } else if (!IsClusterMember(*u)) {
        is_border = true;
        if (u->opcode() == Opcode::kBroadcast) Want(CutsOf(dims));
      }
    }
    if (is_border) Border(m);
  }

  const std::vector<Instruction*>& members_;
  const int64_t elements_;
  Cuts hard_;
  std::map<int64_t, int> wanted_;  // cut -> arrays that need it
  std::map<Cuts, int> dots_;       // cuts of dots at the border
  std::set<std::vector<int64_t>> shapes_;
  absl::flat_hash_set<const Instruction*> seen_;
};

}  // namespace

bool IsClusterMember(const Instruction& i) {
  if (!i.shape().IsArray() || i.shape().rank() == 0 || IsFlexible(i)) {
    return false;
  }
  if (i.opcode() == Opcode::kReshape) {
    return i.operand(0)->shape().rank() > 0 &&
           MinorDim(i.shape()) == MinorDim(i.operand(0)->shape());
  }
  if (!i.IsElementwise() || i.opcode() == Opcode::kCopy) return false;
  for (const Instruction* o : i.operands()) {
    if (!o->shape().SameDims(i.shape())) return false;
  }
  return true;
}

std::vector<ElementwiseCluster> FindElementwiseClusters(
    const Computation& computation) {
  std::vector<Instruction*> order = computation.PostOrder();
  absl::flat_hash_map<const Instruction*, int> number;
  number.reserve(order.size());
  for (int n = 0; n < static_cast<int>(order.size()); ++n) {
    number[order[n]] = n;
  }
  UnionFind sets(static_cast<int>(order.size()));
  std::vector<bool> member(order.size());
  for (int n = 0; n < static_cast<int>(order.size()); ++n) {
    member[n] =
        IsClusterMember(*order[n]) && order[n]->shape().ElementCount() > 1;
    if (!member[n]) continue;
    for (const Instruction* o : order[n]->operands()) {
      const int k = number[o];
      if (member[k]) sets.Union(n, k);
    }
  }
  absl::flat_hash_map<int, int> index;
  std::vector<ElementwiseCluster> all;
  for (int n = 0; n < static_cast<int>(order.size()); ++n) {
    if (!member[n]) continue;
    auto [it, inserted] =
        index.emplace(sets.Find(n), static_cast<int>(all.size()));
    if (inserted) all.emplace_back();
    all[it->second].members.push_back(order[n]);
  }
  std::vector<ElementwiseCluster> result;
  for (ElementwiseCluster& cluster : all) {
    if (Chooser(cluster.members).Choose(&cluster.dims)) {
      result.push_back(std::move(cluster));
    }
  }
  return result;
}

}  // namespace ptxla::hlo

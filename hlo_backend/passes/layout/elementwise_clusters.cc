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

// Whether a cluster's reduces leave one value of each plane of rows and lanes,
// and nothing else asks which plane it is: the planes are one dimension then,
// as reduce_shaper.h has them.
class PlaneReduces {
 public:
  void Add(const Instruction& m) {
    const DimVector& dims = m.shape().dims();
    const int rank = static_cast<int>(dims.size());
    if (rank < 3 || m.opcode() == Opcode::kReshape) return Refuse();
    const DimVector minor = {dims[rank - 2], dims[rank - 1]};
    if (minor_.empty()) minor_ = minor;
    if (minor != minor_) return Refuse();
    for (const Instruction* o : m.operands()) {
      if (o->opcode() == Opcode::kDot) Refuse();
      if (o->opcode() == Opcode::kIota) {
        Require(o->attrs<IotaAttrs>().dimension + 2 >= rank);
      } else if (o->opcode() == Opcode::kBroadcast) {
        Require(IsOfPlanes(*o));
      }
    }
    for (const Instruction* u : m.users()) {
      if (u->opcode() == Opcode::kReduce) {
        const auto reduced = u->dimensions();
        Require(u->operand_count() == 2 && reduced.size() == 2 &&
                Contains(reduced, rank - 2) && Contains(reduced, rank - 1));
        found_ |= rank > 3;
      } else if (u->opcode() == Opcode::kBroadcast ||
                 u->opcode() == Opcode::kDot) {
        Refuse();
      }
    }
  }

  bool Found() const { return found_ && !refused_; }
  DimVector Dims(int64_t elements) const {
    return {elements / Product(minor_), minor_[0], minor_[1]};
  }

 private:
  void Refuse() { refused_ = true; }
  void Require(bool holds) { refused_ |= !holds; }

  // A value for each plane, or the same for all of them.
  static bool IsOfPlanes(const Instruction& broadcast) {
    const DimVector& dims = broadcast.shape().dims();
    const int rank = static_cast<int>(dims.size());
    int along = 0, others = 0, within = 0;
    for (int d = 0; d < rank; ++d) {
      const bool mapped = Contains(broadcast.dimensions(), d);
      if (d + 2 >= rank) {
        within += mapped;
      } else if (dims[d] > 1) {
        (mapped ? along : others) += 1;
      }
    }
    return along == 0 || (others == 0 && within == 0);
  }

  DimVector minor_;
  bool found_ = false, refused_ = false;
};

// Collects what members and neighbours ask of the shape.
class Chooser {
 public:
  explicit Chooser(const std::vector<Instruction*>& members)
      : members_(members), elements_(members[0]->shape().ElementCount()) {}

  // Nothing when one shape serves already, or none does.
  bool Choose(DimVector* dims) {
    for (const Instruction* m : members_) Collect(*m);
    if (planes_.Found()) {
      *dims = planes_.Dims(elements_);
      return true;
    }
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
    planes_.Add(m);
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
  PlaneReduces planes_;
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

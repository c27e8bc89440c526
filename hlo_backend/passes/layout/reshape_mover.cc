#include "hlo_backend/passes/layout/reshape_mover.h"

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/elementwise_clusters.h"

namespace ptxla::hlo {
namespace {

class Mover {
 public:
  Mover(Computation* c, const ElementwiseCluster& cluster)
      : c_(c),
        b_(c),
        cluster_(cluster),
        dims_(cluster.dims),
        cuts_(CutsOf(cluster.dims)),
        members_(cluster.members.begin(), cluster.members.end()) {}

  bool Run() {
    if (NothingToDo()) return false;
    for (Instruction* m : cluster_.members) {
      b_.set_metadata(m->shared_metadata());
      mapped_[m] = Rebuild(m);
    }
    for (Instruction* m : cluster_.members) Reconnect(m);
    return true;
  }

 private:
  // Every elementwise member has the shape, and no reshape hides it from a
  // reduce.
  bool NothingToDo() const {
    for (const Instruction* m : cluster_.members) {
      if (m->shape().dims() == dims_) continue;
      if (m->opcode() != Opcode::kReshape) return false;
      for (const Instruction* u : m->users()) {
        if (MayReduceHere(*u, *m)) return false;
      }
    }
    return true;
  }

  // Whether the reduce of a member can work on the cluster's dimensions.
  bool MayReduceHere(const Instruction& reduce, const Instruction& m) const {
    return reduce.opcode() == Opcode::kReduce && reduce.operand_count() == 2 &&
           m.shape().dims() != dims_ &&
           Refines(LeastCutsOfReduce(m.shape().dims(), reduce.dimensions()));
  }

  Shape Wanted(const Instruction& i) const {
    return Shape::Array(i.shape().type(), dims_);
  }

  bool Refines(const Cuts& needed) const {
    for (int64_t c : needed) {
      if (!HasCut(cuts_, c)) return false;
    }
    return true;
  }

  Instruction* Rebuild(Instruction* m) {
    if (m->opcode() == Opcode::kReshape) return Mapped(m->operand(0));
    std::vector<Instruction*> operands;
    for (Instruction* o : m->operands()) operands.push_back(Mapped(o));
    return c_->AddLike(*m, Wanted(*m), operands);
  }

  // The value with the cluster's dimensions.
  Instruction* Mapped(Instruction* value) {
    auto it = mapped_.find(value);
    if (it != mapped_.end()) return it->second;
    Instruction* result = nullptr;
    if (value->shape().dims() == dims_) {
      result = value;
    } else if (value->opcode() == Opcode::kBroadcast) {
      result = Broadcast(value);
    } else if (value->opcode() == Opcode::kIota) {
      result = Iota(value);
    }
    if (result == nullptr) result = b_.Reshape(value, dims_);
    mapped_[value] = result;
    return result;
  }

  Instruction* Broadcast(Instruction* value) {
    Instruction* x = value->operand(0);
    if (x->shape().IsScalar()) return b_.BroadcastScalar(x, dims_);
    const DimVector& old = value->shape().dims();
    if (!Refines(LeastCutsOfBroadcast(old, value->dimensions())))
      return nullptr;
    // New dimensions that are part of an old one that comes from x. Old ones
    // may be finer than new ones only where nothing comes from x.
    Cuts all = cuts_;
    for (int64_t c : CutsOf(old)) AddCut(&all, c);
    const DimVector fine = DimsOf(all, value->shape().ElementCount());
    const DimVector in_old = PartOf(fine, old), in_new = PartOf(fine, dims_);
    DimVector mapping, x_dims;
    for (size_t f = 0; f < fine.size(); ++f) {
      if (fine[f] == 1 || !Contains(value->dimensions(), in_old[f])) continue;
      if (!mapping.empty() && mapping.back() == in_new[f]) {
        x_dims.back() *= fine[f];
        continue;
      }
      mapping.push_back(in_new[f]);
      x_dims.push_back(fine[f]);
    }
    if (x->shape().dims() != x_dims) x = b_.Reshape(x, x_dims);
    return b_.Broadcast(x, dims_, mapping);
  }

  Instruction* Iota(Instruction* value) {
    const DimVector& old = value->shape().dims();
    const int64_t d = value->attrs<IotaAttrs>().dimension;
    Cuts needed = CutsOfBroadcast(old, {d});
    if (!Refines(needed)) return nullptr;
    Cuts all = cuts_;
    for (int64_t c : CutsOf(old)) AddCut(&all, c);
    const DimVector fine = DimsOf(all, value->shape().ElementCount());
    const DimVector in_old = PartOf(fine, old), in_new = PartOf(fine, dims_);
    int parts = 0;
    int64_t dimension = 0;
    for (size_t f = 0; f < fine.size(); ++f) {
      if (fine[f] == 1 || in_old[f] != d) continue;
      ++parts;
      dimension = in_new[f];
    }
    if (parts != 1) return nullptr;  // a counter of two digits
    return b_.Iota(Wanted(*value), dimension);
  }

  Instruction* Back(Instruction* m) {
    Instruction* value = mapped_.at(m);
    if (value->shape().dims() == m->shape().dims()) return value;
    return b_.Reshape(value, m->shape().dims());
  }

  // Users outside the cluster.
  void Reconnect(Instruction* m) {
    b_.set_metadata(m->shared_metadata());
    Instruction* back = nullptr;
    auto value = [&] {
      if (back == nullptr) back = Back(m);
      return back;
    };
    const std::vector<Instruction*> users(m->users().begin(), m->users().end());
    for (Instruction* u : users) {
      if (members_.contains(u)) continue;
      if (MayReduceHere(*u, *m) && Reduce(u, m)) continue;
      m->ReplaceUseIn(u, value());
    }
    if (m->IsRoot()) c_->SetRoot(value());
  }

  bool Reduce(Instruction* reduce, Instruction* m) {
    const DimVector& old = m->shape().dims();
    Cuts all = cuts_;
    for (int64_t c : CutsOf(old)) AddCut(&all, c);
    const DimVector fine = DimsOf(all, m->shape().ElementCount());
    const DimVector in_old = PartOf(fine, old), in_new = PartOf(fine, dims_);
    DimVector reduced, kept_dims;
    for (size_t f = 0; f < fine.size(); ++f) {
      if (fine[f] != 1 && Contains(reduce->dimensions(), in_old[f]) &&
          !Contains(reduced, in_new[f])) {
        reduced.push_back(in_new[f]);
      }
    }
    if (reduced.empty()) return false;
    for (int64_t d : Others(static_cast<int>(dims_.size()), reduced)) {
      kept_dims.push_back(dims_[d]);
    }
    DimensionsAttrs attrs;
    attrs.dimensions = reduced;
    Instruction* value =
        c_->AddLike(*reduce, Shape::Array(reduce->shape().type(), kept_dims),
                    {mapped_.at(m), reduce->operand(1)});
    value->set_attributes(attrs);
    if (kept_dims != reduce->shape().dims()) {
      value = b_.Reshape(value, reduce->shape().dims());
    }
    c_->Replace(reduce, value);
    return true;
  }

  Computation* c_;
  Builder b_;
  const ElementwiseCluster& cluster_;
  const DimVector& dims_;
  const Cuts cuts_;
  absl::flat_hash_set<const Instruction*> members_;
  absl::flat_hash_map<Instruction*, Instruction*> mapped_;
};

}  // namespace

absl::StatusOr<bool> ReshapeMoverPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (const ElementwiseCluster& cluster : FindElementwiseClusters(*c)) {
      here |= Mover(c, cluster).Run();
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo

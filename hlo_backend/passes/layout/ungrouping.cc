#include "hlo_backend/passes/layout/ungrouping.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_cuts.h"
#include "hlo_backend/passes/layout/regrouping.h"

namespace ptxla::hlo {
namespace {

// Arrays of words lie in the same tiles on all chips.
constexpr int kAnyGeneration = 5;

bool IsWork(const Instruction& i) {
  if (!i.shape().IsArray() || i.shape().rank() == 0 || !i.IsElementwise() ||
      i.opcode() == Opcode::kCopy) {
    return false;
  }
  for (const Instruction* o : i.operands()) {
    if (!o->shape().SameDims(i.shape())) return false;
  }
  return true;
}

bool IsReduceOf(const Instruction& user, const Instruction& x) {
  return user.opcode() == Opcode::kReduce && user.operand_count() == 2 &&
         user.operand(0) == &x && user.operand(1) != &x;
}

// Connected elementwise work of one shape, and its borders.
class Group {
 public:
  Group(Computation* c, Instruction* seed,
        absl::flat_hash_set<const Instruction*>* seen)
      : c_(c), b_(c), from_(seed->shape().dims()) {
    std::vector<Instruction*> next = {seed};
    seen->insert(seed);
    while (!next.empty()) {
      Instruction* m = next.back();
      next.pop_back();
      members_.insert(m);
      auto visit = [&](Instruction* i) {
        if (i->shape().SameDims(seed->shape()) && IsWork(*i) &&
            seen->insert(i).second) {
          next.push_back(i);
        }
      };
      for (Instruction* o : m->operands()) visit(o);
      for (Instruction* u : m->users()) visit(u);
    }
  }

  bool Run() {
    for (const Instruction* m : members_) FindBorders(*m);
    for (const DimVector& to : shapes_) {
      if (!Gains(to)) continue;
      Rewrite(to);
      return true;
    }
    return false;
  }

 private:
  static DimVector OtherSide(const Instruction& reshape, bool in) {
    return DropUnitDims(in ? reshape.operand(0)->shape().dims()
                           : reshape.shape().dims());
  }

  void FindBorders(const Instruction& m) {
    for (const Instruction* o : m.operands()) {
      if (members_.contains(o) || !in_.insert(o).second) continue;
      if (o->opcode() == Opcode::kReshape) shapes_.insert(OtherSide(*o, true));
    }
    for (const Instruction* u : m.users()) {
      if (members_.contains(u)) continue;
      out_.push_back({&m, u});
      if (u->opcode() == Opcode::kReshape) {
        shapes_.insert(OtherSide(*u, false));
      }
    }
    if (m.IsRoot()) out_.push_back({&m, nullptr});
  }

  // Bits of an element that borders reshape: in all, and those whose rows
  // change; the others for the most part name memory.
  struct Reshaped {
    void Count(int64_t bits, const DimVector& a, const DimVector& b) {
      all += bits;
      if (a.empty() || b.empty() || a.back() != b.back()) rows += bits;
    }
    int64_t all = 0, rows = 0;
  };

  // Elements with the padding of tiles.
  static int64_t InTiles(const DimVector& dims) {
    return TpuBytes(Shape::Array(PrimitiveType::kF32, dims), kAnyGeneration);
  }

  // Whether fewer bytes are reshaped with the work in `to`.
  bool Gains(const DimVector& to) const {
    const std::optional<Regrouping> r = Regrouping::Make(from_, to);
    if (to.empty() || !r.has_value()) return false;
    Reshaped before, after;
    const DimVector from = DropUnitDims(from_);
    bool is_partial = from.back() != to.back();
    auto count = [&](const Instruction& value, const Instruction* reshape,
                     bool in) {
      const int64_t bits = BitWidth(value.shape().type());
      const DimVector other =
          reshape == nullptr ? from : OtherSide(*reshape, in);
      if (reshape != nullptr) before.Count(bits, other, from);
      if (reshape == nullptr || other != to) after.Count(bits, other, to);
    };
    for (const Instruction* o : in_) {
      if (o->opcode() == Opcode::kBroadcast) {
        if (!r->CanBroadcast(*o)) return false;
        is_partial |= r->IsPartial(o->dimensions());
      } else {
        count(*o, o->opcode() == Opcode::kReshape ? o : nullptr, true);
      }
    }
    absl::flat_hash_set<const Instruction*> stored;
    for (const auto& [m, u] : out_) {
      if (u != nullptr && IsReduceOf(*u, *m)) {
        if (!r->CanReduce(*u)) return false;
        is_partial |= r->IsPartial(u->dimensions());
      } else if (u != nullptr && u->opcode() == Opcode::kReshape) {
        count(*m, u, false);
      } else if (stored.insert(m).second) {
        count(*m, nullptr, false);
      }
    }
    if (!is_partial) return false;
    if (after.rows != before.rows) return after.rows < before.rows;
    return after.all < before.all && InTiles(to) <= InTiles(from);
  }

  // The value with these dimensions; a reshape from them is its operand.
  Instruction* Seen(Instruction* value, const DimVector& dims) {
    if (value->opcode() == Opcode::kReshape) value = value->operand(0);
    return value->shape().dims() == dims ? value : b_.Reshape(value, dims);
  }

  // Members, operands first.
  std::vector<Instruction*> Order() const {
    std::vector<Instruction*> order, stack(members_.begin(), members_.end());
    std::sort(stack.begin(), stack.end(),
              [](const Instruction* a, const Instruction* b) {
                return a->id() < b->id();
              });
    absl::flat_hash_set<const Instruction*> entered, done;
    while (!stack.empty()) {
      Instruction* m = stack.back();
      if (entered.insert(m).second) {
        for (Instruction* o : m->operands()) {
          if (members_.contains(o) && !entered.contains(o)) stack.push_back(o);
        }
        continue;
      }
      stack.pop_back();
      if (done.insert(m).second) order.push_back(m);
    }
    return order;
  }

  void Rewrite(const DimVector& to) {
    const std::vector<Instruction*> order = Order();
    const Regrouping r = *Regrouping::Make(from_, to);
    absl::flat_hash_map<const Instruction*, Instruction*> mapped;
    auto in = [&](Instruction* o) {
      auto [it, inserted] = mapped.emplace(o, nullptr);
      if (inserted) {
        it->second = o->opcode() == Opcode::kBroadcast ? r.Broadcast(o, &b_)
                                                       : Seen(o, to);
      }
      return it->second;
    };
    for (Instruction* m : order) {
      b_.set_metadata(m->shared_metadata());
      std::vector<Instruction*> operands;
      for (Instruction* o : m->operands()) operands.push_back(in(o));
      mapped[m] =
          c_->AddLike(*m, Shape::Array(m->shape().type(), to), operands);
    }
    for (Instruction* m : order) Reconnect(m, mapped.at(m), r);
  }

  void Reconnect(Instruction* m, Instruction* value, const Regrouping& r) {
    b_.set_metadata(m->shared_metadata());
    Instruction* back = nullptr;
    auto stored = [&] {
      if (back == nullptr) back = b_.Reshape(value, from_);
      return back;
    };
    const std::vector<Instruction*> users(m->users().begin(), m->users().end());
    for (Instruction* u : users) {
      if (members_.contains(u)) continue;
      if (IsReduceOf(*u, *m)) {
        c_->Replace(u, r.Reduce(u, value, &b_));
      } else if (u->opcode() == Opcode::kReshape && !u->IsRoot() &&
                 u->shape().dims() == value->shape().dims()) {
        u->ReplaceAllUsesWith(value);  // it stays in the pass's list
      } else {
        m->ReplaceUseIn(u, stored());
      }
    }
    if (m->IsRoot()) c_->SetRoot(stored());
  }

  Computation* c_;
  Builder b_;
  const DimVector from_;
  absl::flat_hash_set<Instruction*> members_;
  absl::flat_hash_set<const Instruction*> in_;
  std::vector<std::pair<const Instruction*, const Instruction*>> out_;
  std::set<DimVector> shapes_;  // other sides of reshapes at the borders
};

// Reduces of the reshape as it is, which need no other work.
bool ReduceBefore(Computation* c, Instruction* reshape) {
  const DimVector to = DropUnitDims(reshape->operand(0)->shape().dims());
  const DimVector& from = reshape->shape().dims();
  const std::optional<Regrouping> r = Regrouping::Make(from, to);
  if (to.empty() || !r.has_value()) return false;
  Builder b(c);
  bool changed = false;
  const std::vector<Instruction*> users(reshape->users().begin(),
                                        reshape->users().end());
  for (Instruction* u : users) {
    if (!IsReduceOf(*u, *reshape) || !r->CanReduce(*u)) continue;
    if (!r->IsPartial(u->dimensions()) &&
        DropUnitDims(from).back() == to.back()) {
      continue;
    }
    b.set_metadata(u->shared_metadata());
    Instruction* x = reshape->operand(0);
    if (x->shape().dims() != to) x = b.Reshape(x, to);
    c->Replace(u, r->Reduce(u, x, &b));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> UngroupingPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // Reduces may go on the way, reshapes stay until the end.
    std::vector<Instruction*> reshapes;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kReshape) reshapes.push_back(i);
    }
    absl::flat_hash_set<const Instruction*> seen;
    bool here = false;
    for (Instruction* i : reshapes) {
      std::vector<Instruction*> seeds = {i->operand(0)};
      seeds.insert(seeds.end(), i->users().begin(), i->users().end());
      for (Instruction* seed : seeds) {
        if (!IsWork(*seed) || seen.contains(seed)) continue;
        here |= Group(c, seed, &seen).Run();
      }
      here |= ReduceBefore(c, i);
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo

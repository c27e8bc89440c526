#include "hlo_backend/ir/module.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/check.h"

namespace ptxla::hlo {

Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;

std::vector<Computation*> Module::computations() const {
  std::vector<Computation*> list;
  list.reserve(computations_.size());
  for (const auto& c : computations_) {
    if (c) list.push_back(c.get());
  }
  return list;
}

std::vector<Computation*> Module::ComputationPostOrder() const {
  std::vector<Computation*> order;
  order.reserve(computations_.size());
  std::vector<uint8_t> seen(computations_.size(), 0);
  struct Frame {
    Computation* computation;
    std::vector<Computation*> callees;
    size_t next = 0;
  };
  // Who calls is known from the other end: walks over all instructions would
  // wait for memory.
  struct Site {
    int position, operand;  // of the call in its computation
    Computation* callee;
  };
  std::vector<std::vector<Site>> sites(computations_.size());
  for (const auto& c : computations_) {
    if (!c) continue;
    for (const Instruction* caller : c->callers()) {
      const auto called = caller->called();
      const auto first = std::find(called.begin(), called.end(), c.get());
      sites[caller->parent()->position_].push_back(
          {caller->position_, static_cast<int>(first - called.begin()),
           c.get()});
    }
  }
  // Each callee once, in the order of the first call.
  std::vector<const Computation*> listed_for(computations_.size(), nullptr);
  auto callees = [&listed_for, &sites](const Computation* c) {
    std::vector<Site>& calls = sites[c->position_];
    std::sort(calls.begin(), calls.end(), [](const Site& x, const Site& y) {
      return std::tie(x.position, x.operand) < std::tie(y.position, y.operand);
    });
    std::vector<Computation*> list;
    for (const Site& call : calls) {
      if (listed_for[call.callee->position_] == c) continue;
      listed_for[call.callee->position_] = c;
      list.push_back(call.callee);
    }
    return list;
  };
  std::vector<Frame> stack;
  for (const auto& start : computations_) {
    if (!start || seen[start->position_]) continue;
    seen[start->position_] = 1;
    stack.push_back({start.get(), callees(start.get())});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        order.push_back(frame.computation);
        stack.pop_back();
        continue;
      }
      Computation* next = frame.callees[frame.next++];
      if (seen[next->position_]) continue;
      seen[next->position_] = 1;
      stack.push_back({next, callees(next)});
    }
  }
  return order;
}

int64_t Module::instruction_count() const {
  int64_t count = 0;
  for (const auto& c : computations_) {
    if (c) count += c->instruction_count();
  }
  return count;
}

Computation* Module::FindComputation(absl::string_view name) const {
  for (const auto& c : computations_) {
    if (c && c->name() == name) return c.get();
  }
  return nullptr;
}

Computation* Module::AddComputation(absl::string_view name) {
  return AddComputationWithExactName(UniqueName(name));
}

Computation* Module::AddComputationWithExactName(std::string name) {
  ReserveName(name);
  computations_.emplace_back(
      new Computation(this, std::move(name), next_computation_id_++));
  computations_.back()->position_ = static_cast<int>(computations_.size()) - 1;
  return computations_.back().get();
}

void Module::RemoveComputation(Computation* computation) {
  CHECK(computation->callers().empty())
      << computation->name() << " is still called";
  CHECK(computation != entry_);
  for (Instruction* i : computation->instructions()) i->SetCalled({});
  computations_[computation->position_].reset();
}

int Module::RemoveUnusedComputations() {
  // What nobody calls, and then what only that called: calls have no cycles.
  std::vector<Computation*> unused;
  std::vector<uint8_t> met(computations_.size(), 0);
  const auto look_at = [&](Computation* c) {
    if (c == entry_ || !c->callers().empty() || met[c->position_]) return;
    met[c->position_] = 1;
    unused.push_back(c);
  };
  for (const auto& c : computations_) {
    if (c) look_at(c.get());
  }
  for (size_t n = 0; n < unused.size(); ++n) {
    for (Instruction* i : unused[n]->instructions()) {
      const absl::InlinedVector<Computation*, 2> callees(i->called().begin(),
                                                         i->called().end());
      i->SetCalled({});
      for (Computation* callee : callees) look_at(callee);
    }
  }
  for (const Computation* c : unused) computations_[c->position_].reset();
  return static_cast<int>(unused.size());
}

int64_t Module::num_replicas() const {
  return std::max<int64_t>(1, config_.replica_count);
}

int64_t Module::num_partitions() const {
  return std::max<int64_t>(1, config_.num_partitions);
}

int64_t Module::DeviceCount() const {
  int64_t count = num_replicas() * num_partitions();
  for (const auto& c : computations_) {
    if (!c) continue;
    for (const Instruction* i : c->instructions()) {
      if (const auto* a = i->attrs_if<CollectiveAttrs>()) {
        count = std::max(count, a->groups.DeviceCount());
      } else if (const auto* a = i->attrs_if<PermuteAttrs>()) {
        for (const auto& [source, target] : a->source_target_pairs) {
          count = std::max({count, source + 1, target + 1});
        }
      }
      if (const Sharding* sharding = i->sharding()) {
        count = std::max(count, sharding->DeviceCount());
      }
    }
  }
  return count;
}

void Module::Compact() {
  for (const auto& c : computations_) {
    if (c) c->Compact();
  }
}

}  // namespace ptxla::hlo

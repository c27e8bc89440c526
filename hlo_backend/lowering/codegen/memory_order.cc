#include "hlo_backend/lowering/codegen/memory_order.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ptxla::codegen {
namespace {

// More sources than these are waited for through one node.
constexpr size_t kFewSources = 4;

}  // namespace

void MemoryOrder::Wait(int i, Sources* sources) {
  if (sources->size() > kFewSources) {
    const int join = graph_.Join(i);
    for (const Source& s : *sources) graph_.Connect(s.node, join, s.cycles);
    *sources = {{join, 0}};
  }
  for (const Source& s : *sources) graph_.Connect(s.node, i, s.cycles);
}

void MemoryOrder::Add(int i, const AddressRange& at, bool store) {
  const bool by_run = in_run_ && at.base == base_;
  if (store && !by_run) {
    StartRun(i, at);
  } else if (by_run) {
    Wait(i, &run_before_);
    if (store) Wait(i, &other_loads_);
  } else {
    Wait(i, &run_);
    other_loads_.push_back({i, 0});
    since_store_.push_back({i, at});
    return;
  }
  Overlaps(i, at, store);
  Enter(i, at, store);
  if (store) {
    run_.push_back({i, 1});
    since_store_.clear();
  } else {
    own_loads_.push_back({i, 0});
  }
}

void MemoryOrder::StartRun(int i, const AddressRange& at) {
  Wait(i, &run_);
  run_before_ = std::move(run_);
  run_.clear();
  other_loads_ = std::move(own_loads_);
  own_loads_.clear();
  first_.clear();
  entries_.clear();
  in_run_ = true;
  base_ = at.base;
  for (const Load& load : since_store_) {
    if (load.at.base != base_) {
      other_loads_.push_back({load.node, 0});
    } else {
      own_loads_.push_back({load.node, 0});
      Enter(load.node, load.at, false);
    }
  }
  Wait(i, &other_loads_);
}

// What accesses by the run's own register meet.
void MemoryOrder::Overlaps(int i, const AddressRange& at, bool store) {
  const int64_t first = FloorOfRatio(at.begin, granule_),
                last = FloorOfRatio(at.end - 1, granule_);
  for (int64_t g = first; g <= last; ++g) {
    const auto it = first_.find(g);
    if (it == first_.end()) continue;
    int32_t* link = &it->second;
    while (*link >= 0) {
      Entry& e = entries_[*link];
      const bool meet = e.begin < at.end && at.begin < e.end;
      // Those in two granules are met in the first that both are in.
      const bool here = g == std::max(first, FloorOfRatio(e.begin, granule_));
      if (meet && here && (store || e.store)) {
        graph_.Connect(e.node, i, e.store ? 1 : 0);
      }
      if (store && at.begin <= e.begin && e.end <= at.end) {
        *link = e.next;  // whoever meets it meets this store too
      } else {
        link = &e.next;
      }
    }
  }
}

void MemoryOrder::Enter(int i, const AddressRange& at, bool store) {
  const int64_t last = FloorOfRatio(at.end - 1, granule_);
  for (int64_t g = FloorOfRatio(at.begin, granule_); g <= last; ++g) {
    const auto it = first_.insert({g, -1}).first;
    entries_.push_back({i, at.begin, at.end, store, it->second});
    it->second = static_cast<int32_t>(entries_.size()) - 1;
  }
}

void MemoryOrder::Barrier(int i) {
  for (const Load& load : since_store_) own_loads_.push_back({load.node, 0});
  Wait(i, &run_);
  Wait(i, &own_loads_);
  run_before_.clear();
  run_.clear();
  other_loads_.clear();
  own_loads_.clear();
  since_store_.clear();
  first_.clear();
  entries_.clear();
  in_run_ = false;
}

}  // namespace ptxla::codegen

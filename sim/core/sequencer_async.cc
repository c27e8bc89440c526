// Copies and collectives: what starts, and what it draws from HBM and links.
#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "base/hash.h"
#include "base/status.h"
#include "sim/core/sequencer.h"

namespace ptxla::sim {
namespace {

Memory MemoryBetween(isa::Space a, isa::Space b) {
  if (a == isa::Space::kHost || b == isa::Space::kHost) return Memory::kHost;
  if (a == isa::Space::kHbm || b == isa::Space::kHbm) return Memory::kHbm;
  return Memory::kOnChip;
}

ici::Kind KindOf(isa::CollectiveKind kind) {
  switch (kind) {
    case isa::CollectiveKind::kAllReduce:
      return ici::Kind::kAllReduce;
    case isa::CollectiveKind::kAllGather:
      return ici::Kind::kAllGather;
    case isa::CollectiveKind::kReduceScatter:
      return ici::Kind::kReduceScatter;
    case isa::CollectiveKind::kAllToAll:
      return ici::Kind::kAllToAll;
    case isa::CollectiveKind::kPermute:
      return ici::Kind::kPermute;
  }
  return ici::Kind::kAllReduce;
}

}  // namespace

void Sequencer::BeginCopy(const isa::Op& op, const isa::CopyStart& copy,
                          int64_t now) {
  const isa::Space from = program_.buffers[copy.from.buffer].space;
  const isa::Space to = program_.buffers[copy.to.buffer].space;
  AsyncEvent event;
  event.op = &op;
  event.memory = MemoryBetween(from, to);
  event.start = now;
  event.bytes = copy.bytes;
  int64_t work = 0;
  const bool both = from == isa::Space::kHbm && to == isa::Space::kHbm;
  memory::Transfer t{Bytes(copy.bytes)};
  if (both) t.write_fraction = 0.5;
  if (event.memory != Memory::kHbm || from == isa::Space::kHbm) {
    work += device_.Work(event.memory, t);
  }
  if (event.memory == Memory::kHbm && to == isa::Space::kHbm) {
    t.write = true;
    work += device_.Work(event.memory, t);
  }
  outstanding_[copy.id] = {
      recorder_->transfers.size(),
      port_->Submit(now, {event.memory, dma_->copy_stream(), work, copy.bytes,
                          to == isa::Space::kHbm})};
  recorder_->transfers.push_back(std::move(event));
}

absl::StatusOr<ici::CollectiveCost> Sequencer::CostOf(
    const isa::CollectiveStart& start) {
  auto [key, fresh] = cost_keys_.try_emplace(&start);
  if (fresh) {
    Fingerprint print;
    print.Add(static_cast<int64_t>(start.kind)).Add(start.bytes);
    for (const auto& group : start.groups) print.Add(absl::MakeSpan(group));
    for (const auto& [from, to] : start.pairs) print.Add(from).Add(to);
    key->second = print.value();
  }
  auto it = costs_.find(key->second);
  if (it != costs_.end()) return it->second;
  ici::Collective c;
  c.kind = KindOf(start.kind);
  c.groups = start.groups;
  c.pairs = start.pairs;
  if (c.groups.empty() && c.kind != ici::Kind::kPermute) {
    c.groups.emplace_back();
    for (int p = 0; p < program_.num_partitions; ++p) c.groups[0].push_back(p);
  }
  // The ISA counts the operands of one chip; see ici::Collective.
  const int64_t n = c.kind == ici::Kind::kAllGather
                        ? static_cast<int64_t>(c.groups[0].size())
                        : 1;
  c.bytes = Bytes(start.bytes * n);
  ASSIGN_OR_RETURN(
      const ici::CollectiveCost cost,
      ici::CostOf(c, device_.slice->topology, device_.slice->chip));
  costs_.emplace(key->second, cost);
  return cost;
}

absl::Status Sequencer::BeginCollective(const isa::Op& op,
                                        const isa::CollectiveStart& start,
                                        int64_t now) {
  AsyncEvent event;
  ASSIGN_OR_RETURN(event.cost, CostOf(start));
  event.op = &op;
  event.collective = true;
  event.bytes = start.bytes;
  event.start = std::max(now, links_free_);
  const int64_t cycles = device_.CyclesOf(event.cost.time);
  event.end = event.start + cycles;
  links_free_ = event.end;
  if (event.cost.hbm_bytes.count() > 0 && cycles > 0) {
    memory::Transfer t{event.cost.hbm_bytes};
    t.write_fraction = 0.5;
    const int64_t work = device_.Work(Memory::kHbm, t);
    const double share = static_cast<double>(work) / (cycles * kTicksPerCycle);
    dma_->SubmitJob(now, Memory::kHbm, dma_->collective_stream(), work,
                    memory::BandwidthServer::RateOf(std::min(1.0, share)), 0);
  }
  outstanding_[start.id] = {recorder_->transfers.size(), -1};
  recorder_->transfers.push_back(std::move(event));
  return absl::OkStatus();
}

}  // namespace ptxla::sim

#include "memory_model/buffer_assignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "memory_model/output_sharing.h"

namespace ptxla::memory {
namespace {

constexpr int64_t kAlignment = 512;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 2;

// Follows aliases to the request that holds the memory.
absl::StatusOr<std::vector<int>> Roots(
    absl::Span<const BufferRequest> requests) {
  absl::flat_hash_map<int64_t, int> by_id;
  std::vector<int> root(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& r = requests[i];
    root[i] = static_cast<int>(i);
    if (r.alias_of >= 0) {
      auto it = by_id.find(r.alias_of);
      if (it == by_id.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("buffer ", r.id, " is an alias of ", r.alias_of,
                         ", which no earlier buffer is"));
      }
      root[i] = root[it->second];
      if (requests[root[i]].bytes < r.bytes) {
        return absl::InvalidArgumentError(absl::StrCat(
            "buffer ", r.id, " of ", r.bytes.count(), " bytes is an alias of ",
            r.alias_of, ", which is smaller"));
      }
    }
    if (!by_id.emplace(r.id, static_cast<int>(i)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffer ", r.id, " is given twice"));
    }
  }
  return root;
}

bool OwnsMemory(const BufferRequest& r) { return r.alias_of < 0; }

OutputSharing SharedOutputs(absl::Span<const BufferRequest> requests,
                            const std::vector<Life>& life) {
  OutputSharing sharing;
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& r = requests[i];
    if (r.kind == BufferKind::kOutput && OwnsMemory(r)) {
      sharing.AddOutput(static_cast<int>(i), r.colour, r.bytes, life[i].first);
    }
  }
  sharing.Finish();
  return sharing;
}

// What temporaries of HBM take, tables and single numbers included: those have
// no memory where there is nothing else.
// DERIVED: reported bytes and offsets of programs compiled by libtpu 0.0.42.1,
// exact in the 13 that use no address twice (docs/compiler/memory.md).
void CountTemporaries(Bytes extent, bool arrays, const TempRules& rules,
                      Assignment* a) {
  if (!arrays) return;
  const Bytes taken =
      Bytes(RoundUpTo(extent.count(), rules.slot.count())) + rules.table_slots;
  const Bytes alive = a->temp_lower_bound + rules.table_bytes;
  a->stats.fragmentation = taken - alive;
  a->stats.temp = taken + a->stats.fragmentation;
}

// Largest first; equal ones in the order given. `fixed`: where temporaries
// begin, per colour.
void PlaceTemporaries(absl::Span<const BufferRequest> requests,
                      const std::vector<Life>& life,
                      const std::map<int, int64_t>& fixed,
                      absl::Span<const ReservedStart> reserved,
                      const TempRules& rules, Assignment* a) {
  std::vector<int> order;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].kind == BufferKind::kTemp && OwnsMemory(requests[i])) {
      order.push_back(static_cast<int>(i));
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return requests[x].bytes > requests[y].bytes;
  });
  OutputSharing outputs = SharedOutputs(requests, life);
  std::map<int, IntervalAllocator> spaces;
  for (const ReservedStart& r : reserved) {
    spaces.try_emplace(r.colour, Bytes(kNoLimit), Bytes(kAlignment))
        .first->second.Reserve(0, r.bytes, r.life);
  }
  std::map<int32_t, int64_t> change;  // of live bytes, by position
  bool arrays = false;                // in HBM, of several elements
  for (int i : order) {
    const BufferRequest& r = requests[i];
    a->inside[i] = outputs.Take(r.colour, r.bytes, life[i]);
    if (a->inside[i] >= 0) {
      a->offsets[i] = a->offsets[a->inside[i]];
      continue;
    }
    if (r.colour == 0) {
      change[life[i].first] += r.bytes.count();
      change[life[i].last + 1] -= r.bytes.count();
    }
    arrays |= r.colour == 0 && r.bytes.count() > 0 && !r.scalar;
    auto [space, fresh] =
        spaces.try_emplace(r.colour, Bytes(kNoLimit),
                           r.colour == 0 ? rules.slot : Bytes(kAlignment));
    auto start = fixed.find(r.colour);
    a->offsets[i] = (start == fixed.end() ? 0 : start->second) +
                    *space->second.Place(r.bytes, life[i]);
  }
  int64_t live = 0;
  for (const auto& [position, bytes] : change) {
    live += bytes;
    if (Bytes(live) > a->temp_lower_bound) {
      a->temp_lower_bound = Bytes(live);
      a->peak_position = position;
    }
  }
  const auto hbm = spaces.find(0);
  if (hbm != spaces.end()) {
    CountTemporaries(hbm->second.extent(), arrays, rules, a);
  }
}

}  // namespace

absl::StatusOr<Assignment> AssignBuffers(
    absl::Span<const BufferRequest> requests, Bytes code,
    absl::Span<const ReservedStart> reserved, const TempRules& rules) {
  auto roots = Roots(requests);
  if (!roots.ok()) return roots.status();
  Assignment a;
  a.offsets.assign(requests.size(), 0);
  a.inside.assign(requests.size(), -1);
  // A temporary's memory lives as long as its aliases do.
  std::vector<Life> life(requests.size());
  std::map<int, int64_t> fixed;  // next address per colour
  for (size_t i = 0; i < requests.size(); ++i) life[i] = requests[i].life;
  for (size_t i = 0; i < requests.size(); ++i) {
    Life& l = life[(*roots)[i]];
    l.first = std::min(l.first, requests[i].life.first);
    l.last = std::max(l.last, requests[i].life.last);
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& r = requests[i];
    const bool hbm = r.colour == 0;
    switch (r.kind) {
      case BufferKind::kArgument:
        if (hbm) a.stats.argument += r.bytes;
        break;
      case BufferKind::kOutput:
        if (hbm) a.stats.output += r.bytes;
        if (hbm && !OwnsMemory(r)) a.stats.alias += r.bytes;
        break;
      case BufferKind::kConstant:
        if (hbm && OwnsMemory(r)) code += r.bytes;
        break;
      case BufferKind::kTemp:
        break;
    }
    if (r.kind != BufferKind::kTemp && OwnsMemory(r)) {
      int64_t& next = fixed[r.colour];
      a.offsets[i] = next;
      next = RoundUpTo(next + r.bytes.count(), kAlignment);
    }
  }
  PlaceTemporaries(requests, life, fixed, reserved, rules, &a);
  for (size_t i = 0; i < requests.size(); ++i) {
    a.offsets[i] = a.offsets[(*roots)[i]];
  }
  a.stats.code = code;
  a.stats.peak = a.stats.argument + a.stats.output - a.stats.alias +
                 a.stats.temp - a.stats.fragmentation + a.stats.code;
  return a;
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFits:
      return "FITS";
    case Verdict::kMarginal:
      return "MARGINAL";
    case Verdict::kOutOfMemory:
      return "OOM";
  }
  return "?";
}

Fit CheckFit(const MemoryStats& stats, const chips::ChipSpec& chip) {
  Fit fit;
  fit.usable = chip.hbm_usable_per_device();
  fit.nominal = chip.hbm_nominal_per_device();
  const Bytes margin(fit.usable.count() *
                     chip.Policy("memory_margin").value_or(0));
  if (stats.peak > fit.usable) fit.over = stats.peak - fit.usable;
  if (stats.peak > fit.usable + margin) {
    fit.verdict = Verdict::kOutOfMemory;
  } else if (stats.peak > fit.usable - margin) {
    fit.verdict = Verdict::kMarginal;
  }
  return fit;
}

std::vector<LiveBuffer> LargestAtPeak(absl::Span<const BufferRequest> requests,
                                      const Assignment& assignment, int limit) {
  std::vector<LiveBuffer> live;
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& r = requests[i];
    if (!OwnsMemory(r) || assignment.inside[i] >= 0 || r.colour != 0 ||
        r.bytes.count() == 0) {
      continue;
    }
    if (r.kind == BufferKind::kTemp &&
        (r.life.first > assignment.peak_position ||
         r.life.last < assignment.peak_position)) {
      continue;
    }
    live.push_back({static_cast<int>(i), r.bytes});
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const LiveBuffer& a, const LiveBuffer& b) {
                     return a.bytes > b.bytes;
                   });
  if (static_cast<int>(live.size()) > limit) live.resize(limit);
  return live;
}

}  // namespace ptxla::memory

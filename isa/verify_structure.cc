#include "isa/verify_structure.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "isa/broken.h"
#include "isa/index_tables.h"
#include "isa/peer_link.h"

namespace ptxla::isa {
namespace {

absl::Status CheckWindow(const Kernel& k, const Window& w) {
  if (w.arg < 0 || w.arg >= k.args.size()) return Broken("no arg", w.arg);
  const KernelArg& arg = k.args[w.arg];
  if (w.direction == Direction::kInOut) return Broken("a window is in or out");
  if (arg.direction != Direction::kInOut && arg.direction != w.direction) {
    return Broken("its direction is not that of arg", w.arg);
  }
  if (w.dims.size() > kMaxWindowDims) return Broken("too many dimensions");
  if (w.inner_bytes <= 0 || w.slots < 1) return Broken("no bytes or no slots");
  if (w.space != Space::kVmem && w.space != Space::kSmem) {
    return Broken("its slots are in ", Name(w.space));
  }
  int64_t end = w.hbm_offset + w.inner_bytes;
  int64_t slot_end = w.inner_bytes;
  uint64_t used = 0;
  const bool tables =
      std::any_of(w.dims.begin(), w.dims.end(),
                  [](const WindowDim& dim) { return !dim.table.empty(); });
  for (const WindowDim& dim : w.dims) {
    if (dim.block < 1 || dim.extent < 1 || dim.grid_divisor < 1 ||
        dim.advance < 0 || dim.hbm_stride < 0 || dim.vmem_stride < 0) {
      return Broken("a dimension has a bad block, extent, divisor or stride");
    }
    if (dim.grid_dim >= static_cast<int>(k.grid.size())) {
      return Broken("it moves with grid dimension ", dim.grid_dim, " of ",
                    k.grid.size());
    }
    RETURN_IF_ERROR(CheckTable(k, dim));
    if (dim.grid_dim >= 0) {
      // Changes of blocks are counted one by one where there are tables.
      if (used >> dim.grid_dim & 1 && !tables) {
        return Broken("two dimensions move with grid dimension ", dim.grid_dim);
      }
      used |= uint64_t{1} << dim.grid_dim;
    }
    end += (dim.extent - 1) * dim.hbm_stride;
    slot_end += (dim.block - 1) * dim.vmem_stride;
  }
  if (w.hbm_offset < 0 || end > arg.bytes) {
    return Broken("it reaches byte ", end, " of arg", w.arg, ", which has ",
                  arg.bytes);
  }
  if (!IsResident(k, w) && slot_end > w.slot_bytes) {
    return Broken("its block ends at byte ", slot_end, " of a slot of ",
                  w.slot_bytes);
  }
  return absl::OkStatus();
}

struct Range {
  int64_t begin;
  int64_t end;
};

absl::Status CheckRanges(std::vector<Range> ranges, absl::string_view space,
                         int64_t declared, int64_t limit) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  int64_t top = 0;
  for (const Range& r : ranges) {
    if (r.begin < top) return Broken(space, " ranges overlap at ", r.begin);
    top = std::max(top, r.end);
  }
  if (top > declared) {
    return Broken("slots and scratch reach ", top, " of ", declared,
                  " bytes of ", space);
  }
  if (declared > limit) {
    return Broken("it needs ", declared, " bytes of ", space, "; the core has ",
                  limit);
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(const Kernel& k, const MachineModel& m) {
  std::vector<Range> vmem;
  std::vector<Range> smem;
  if (k.scratch_bytes > 0) {
    vmem.push_back({k.scratch_offset, k.scratch_offset + k.scratch_bytes});
  }
  for (const Window& w : k.windows) {
    if (IsResident(k, w)) continue;
    (w.space == Space::kSmem ? smem : vmem)
        .push_back({w.vmem_offset, w.vmem_offset + w.slots * w.slot_bytes});
  }
  RETURN_IF_ERROR(
      CheckRanges(std::move(vmem), "VMEM", k.vmem_bytes, m.vmem_bytes));
  return CheckRanges(std::move(smem), "SMEM", k.smem_bytes, m.smem_bytes);
}

absl::Status CheckDescriptor(const Kernel& k, const DmaDescriptor& d) {
  const int args = static_cast<int>(k.args.size());
  if (d.src_arg >= args || d.dst_arg >= args) return Broken("no such argument");
  if (d.semaphore < 0 || d.semaphore >= k.num_semaphores) {
    return Broken("no semaphore ", d.semaphore);
  }
  if (d.Bytes() <= 0) return Broken("it moves no bytes");
  if (d.arg_shift < 0 || d.arg_shift > 30) {
    return Broken("no unit of 2^", d.arg_shift, " bytes");
  }
  if (d.to_peer) {
    if (d.src_arg >= 0 || d.dst_arg >= 0 || d.local != Space::kVmem ||
        !d.dims.empty()) {
      return Broken(
          "to the other core goes one run of bytes from VMEM to VMEM");
    }
    if (k.megacore_dim < 0 || k.grid[k.megacore_dim] < 2) {
      return Broken("there is no other core to send to");
    }
  }
  return absl::OkStatus();
}

// Events of one profile, counted without unrolling.
struct Counts {
  std::vector<int64_t> starts, waits;  // by window
  std::vector<int64_t> given, taken;   // bytes, by semaphore
};

void Count(const Kernel& k, const std::vector<TimedEvent>& events,
           int64_t times, Counts* c) {
  for (const TimedEvent& e : events) {
    if (!e.body.empty()) {
      Count(k, e.body, times * e.trips, c);
      continue;
    }
    switch (e.event.kind) {
      case DmaEvent::Kind::kStart:
        c->starts[e.event.index] += times;
        break;
      case DmaEvent::Kind::kWait:
        c->waits[e.event.index] += times;
        break;
      case DmaEvent::Kind::kStartDescriptor: {
        const DmaDescriptor& d = k.descriptors[e.event.index];
        c->given[d.semaphore] += times * d.CountedBytes();
        break;
      }
      case DmaEvent::Kind::kWaitSemaphore:
        c->taken[e.event.index] += times * e.event.amount;
        break;
      case DmaEvent::Kind::kSignal:
        c->given[e.event.index] += times * e.event.amount;
        break;
    }
  }
}

Counts CountOf(const Kernel& k, const Profile& profile) {
  Counts c;
  c.starts.resize(k.windows.size());
  c.waits.resize(k.windows.size());
  c.given.resize(k.num_semaphores);
  c.taken.resize(k.num_semaphores);
  Count(k, profile.events, 1, &c);
  return c;
}

absl::Status CheckInput(int64_t transfers, int w, const Counts& entry,
                        const std::vector<Counts>& steps) {
  if (entry.starts[w] != 1) {
    return Broken("an input is started ", entry.starts[w],
                  " times in entry, not 1");
  }
  for (const Counts& step : steps) {
    const bool all = step.starts[w] == 1 && step.waits[w] == 1;
    // One transfer in all: it may be awaited once and for all in entry.
    const bool once = transfers == 1 && step.starts[w] <= 1 &&
                      (entry.waits[w] == 1 || step.waits[w] >= 1);
    if (!all && !once) {
      return Broken("an input is started ", step.starts[w], " and awaited ",
                    step.waits[w], " times in a step, not once");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(int64_t transfers, int slots, int w,
                         const Counts& entry, const std::vector<Counts>& steps,
                         const Counts& exit) {
  if (entry.starts[w] + entry.waits[w] + exit.starts[w] != 0) {
    return Broken("an output is written back in steps only");
  }
  if (exit.waits[w] != 1) {
    return Broken("an output is awaited ", exit.waits[w],
                  " times in exit, not 1");
  }
  for (const Counts& step : steps) {
    if (step.starts[w] > 1 || (transfers > 1 && step.starts[w] == 0)) {
      return Broken("an output is started ", step.starts[w],
                    " times in a step, not 1");
    }
    if (transfers > slots && step.waits[w] != 1) {
      return Broken("an output's slot is awaited ", step.waits[w],
                    " times in a step, not 1");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyStructure(const Kernel& k, const MachineModel& m) {
  if (k.grid.size() > kCoreShare) {
    return Broken("more than ", kCoreShare, " grid dimensions");
  }
  for (int64_t bound : k.grid) {
    if (bound < 1) return Broken("grid bound ", bound);
  }
  if (k.megacore_dim >= static_cast<int>(k.grid.size())) {
    return Broken("megacore_dim ", k.megacore_dim, " of ", k.grid.size());
  }
  for (int w = 0; w < k.windows.size(); ++w) {
    RETURN_IF_ERROR(CheckWindow(k, k.windows[w])) << "window w" << w;
  }
  for (int d = 0; d < k.descriptors.size(); ++d) {
    RETURN_IF_ERROR(CheckDescriptor(k, k.descriptors[d]))
        << "descriptor d" << d;
  }
  return CheckMemory(k, m);
}

absl::Status VerifyDma(const Kernel& k, const KernelTiming& timing,
                       const MachineModel& m) {
  const Counts entry = CountOf(k, timing.entry);
  const Counts exit = CountOf(k, timing.exit);
  std::vector<Counts> steps;
  for (const auto& step : timing.classes) {
    steps.push_back(CountOf(k, step.profile));
  }
  const int cores = k.megacore_dim < 0 ? 1 : m.cores;
  for (int w = 0; w < k.windows.size(); ++w) {
    if (IsResident(k, k.windows[w])) continue;
    int64_t transfers = 0;  // of the core that makes most
    for (int core = 0; core < cores; ++core) {
      transfers = std::max(transfers, CountTransfers(k, w, core, cores));
    }
    RETURN_IF_ERROR(
        k.windows[w].direction == Direction::kIn
            ? CheckInput(transfers, w, entry, steps)
            : CheckOutput(transfers, k.windows[w].slots, w, entry, steps, exit))
        << "window w" << w;
  }
  std::vector<int64_t> sent;  // bytes of core 0, by semaphore
  for (int core = 0; core < cores; ++core) {
    const std::vector<int64_t> times = timing.StepsPerClass(k, core, cores);
    for (int s = 0; s < k.num_semaphores; ++s) {
      int64_t given = entry.given[s] + exit.given[s];
      int64_t taken = entry.taken[s] + exit.taken[s];
      for (int c = 0; c < steps.size(); ++c) {
        given += times[c] * steps[c].given[s];
        taken += times[c] * steps[c].taken[s];
      }
      if (given != taken) {
        return Broken("semaphore ", s, " ends at ", given - taken, ", not 0");
      }
      // The semaphore counts what this core sends for what the other one does.
      if (core == 0) {
        sent.push_back(given);
      } else if (CountsPeer(k, s) && given != sent[s]) {
        return Broken("semaphore ", s, " counts ", sent[s], " on core 0 and ",
                      given, " on core ", core);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::isa

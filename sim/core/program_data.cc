#include "sim/core/program_data.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "isa/from_chip_spec.h"
#include "isa/peer_link.h"

namespace ptxla::sim {
namespace {

// The VMEM arguments of a kernel on several cores. Every core has them in its
// own VMEM; what one wrote, all have after the barrier.
class SharedVmem {
 public:
  // Both outlive this.
  SharedVmem(const isa::Kernel& kernel, const std::vector<isa::ArgMemory>& args)
      : kernel_(kernel), args_(args) {}

  // Core 0 comes first: it holds what was there before.
  void Enter(int core, isa::Core* c) {
    ForEach([&](size_t i, int64_t begin, int64_t end) {
      const absl::Span<uint8_t> bytes =
          c->vmem(end).subspan(begin, end - begin);
      if (core == 0) {
        before_[i].assign(bytes.begin(), bytes.end());
        after_[i] = before_[i];
      } else {
        std::copy(before_[i].begin(), before_[i].end(), bytes.begin());
      }
    });
  }
  void Leave(isa::Core* c) {
    ForEach([&](size_t i, int64_t begin, int64_t end) {
      const absl::Span<uint8_t> bytes =
          c->vmem(end).subspan(begin, end - begin);
      for (size_t k = 0; k < bytes.size(); ++k) {
        if (bytes[k] != before_[i][k]) after_[i][k] = bytes[k];
      }
    });
  }
  void Store(isa::Core* c) {
    ForEach([&](size_t i, int64_t begin, int64_t end) {
      std::copy(after_[i].begin(), after_[i].end(),
                c->vmem(end).subspan(begin, end - begin).begin());
    });
  }

 private:
  template <class Fn>
  void ForEach(Fn fn) {
    before_.resize(args_.size());
    after_.resize(args_.size());
    for (size_t i = 0; i < args_.size(); ++i) {
      const isa::KernelArg& arg = kernel_.args[i];
      if (arg.space != isa::Space::kVmem) continue;
      fn(i, args_[i].address, args_[i].address + arg.bytes);
    }
  }

  const isa::Kernel& kernel_;
  const std::vector<isa::ArgMemory>& args_;
  std::vector<std::vector<uint8_t>> before_, after_;
};

// Bytes from the first to the last of a block in VMEM: of its slot, or where it
// is used in its array.
int64_t ReachOf(const isa::Kernel& k, const isa::Window& w) {
  if (w.arg < 0 || !isa::IsResident(k, w)) return w.slot_bytes;
  int64_t reach = w.inner_bytes;
  for (const isa::WindowDim& d : w.dims) {
    reach += (d.block - 1) * d.hbm_stride;
  }
  return std::max(reach, w.slot_bytes);
}

}  // namespace

ProgramData::ProgramData(const isa::Program& program, const chips::Slice& slice,
                         const ProgramDataOptions& options)
    : program_(program), options_(options) {
  const isa::MachineModel machine = isa::FromChipSpec(slice.chip);
  for (int c = 0; c < slice.topology.cores_per_device(); ++c) {
    cores_.push_back(std::make_unique<isa::Core>(machine, options.interpreter));
  }
  int64_t vmem_end = 0;
  for (const isa::Buffer& b : program.buffers) {
    if (b.space == isa::Space::kVmem) {
      vmem_end = std::max(vmem_end, b.offset + b.bytes);
    }
    if (b.space == isa::Space::kVmem || b.space == isa::Space::kSmem) continue;
    std::vector<uint8_t>& memory = memory_[static_cast<int>(b.space)];
    const size_t end = static_cast<size_t>(b.offset + b.bytes);
    if (memory.size() < end) memory.resize(end, options.fill);
  }
  // A block at the ragged end of an array in VMEM is read whole, and loads move
  // whole registers: what lies behind is never used, be it the end of VMEM.
  int64_t block = isa::kVmemAlignment;
  for (const isa::Kernel& k : program.kernels) {
    for (const isa::Window& w : k.windows) {
      block = std::max(block, ReachOf(k, w));
    }
  }
  vmem_end = std::max(vmem_end, program.scoped_vmem_bytes);
  vmem_end = RoundUpTo<int64_t>(vmem_end + block, isa::kVregBytes);
  for (auto& core : cores_) core->vmem(vmem_end);
  for (const isa::Program::Constant& c : program.constants) {
    const absl::Span<uint8_t> to =
        At(c.where, static_cast<int64_t>(c.bytes.size()));
    std::memcpy(to.data(), c.bytes.data(), c.bytes.size());
  }
}

absl::Span<uint8_t> ProgramData::At(const isa::BufferSlice& slice,
                                    int64_t bytes) {
  const isa::Buffer& b = program_.buffers[slice.buffer];
  const int64_t begin = b.offset + slice.offset;
  switch (b.space) {
    case isa::Space::kVmem:
      return cores_[0]->vmem(begin + bytes).subspan(begin, bytes);
    case isa::Space::kSmem:
      return cores_[0]->smem(begin + bytes).subspan(begin, bytes);
    default:
      return absl::MakeSpan(memory_[static_cast<int>(b.space)])
          .subspan(begin, bytes);
  }
}

absl::Status ProgramData::SetParameter(int index,
                                       absl::Span<const uint8_t> logical) {
  if (index < 0 || index >= static_cast<int>(program_.parameters.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no parameter ", index));
  }
  const isa::Leaf& leaf = program_.parameters[index];
  const int64_t expected =
      leaf.layout.NumElements() * ((leaf.layout.bits + 7) / 8);
  if (static_cast<int64_t>(logical.size()) != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", index, " (", leaf.shape, ") has ", expected,
                     " bytes, not ", logical.size()));
  }
  const std::string packed = leaf.layout.Pack(logical, options_.fill);
  const absl::Span<uint8_t> to =
      At(leaf.where, static_cast<int64_t>(packed.size()));
  std::memcpy(to.data(), packed.data(), packed.size());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> ProgramData::Output(int index) {
  if (index < 0 || index >= static_cast<int>(program_.outputs.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no output ", index));
  }
  const isa::Leaf& leaf = program_.outputs[index];
  return leaf.layout.Unpack(At(leaf.where, leaf.layout.ByteSize()));
}

std::vector<isa::BufferSlice> ProgramData::PlacesOf(const isa::Call& call) {
  std::vector<isa::BufferSlice> places = call.args;
  for (const isa::MovingArg& m : call.moving) {
    uint32_t number = 0;
    std::memcpy(&number, At(m.index, 4).data(), 4);
    places[m.arg].offset += m.Offset(number);
  }
  return places;
}

absl::StatusOr<std::vector<BundleTrace>> ProgramData::Execute(
    const isa::Call& call, const KernelPlan& plan, const DeviceModel& device) {
  KernelObserver* observer = options_.observer;
  if (observer != nullptr) {
    RETURN_IF_ERROR(observer->Before(call, this));
  }
  ASSIGN_OR_RETURN(std::vector<BundleTrace> traces, Run(call, plan, device));
  if (observer != nullptr) {
    RETURN_IF_ERROR(observer->After(call, this));
  }
  return traces;
}

absl::StatusOr<std::vector<BundleTrace>> ProgramData::Run(
    const isa::Call& call, const KernelPlan& plan, const DeviceModel& device) {
  const isa::Kernel& kernel = *plan.kernel;
  const std::vector<isa::BufferSlice> places = PlacesOf(call);
  std::vector<isa::ArgMemory> args;
  for (size_t i = 0; i < places.size(); ++i) {
    const isa::Buffer& b = program_.buffers[places[i].buffer];
    isa::ArgMemory arg;
    if (b.space == isa::Space::kVmem || b.space == isa::Space::kSmem) {
      arg.address = b.offset + places[i].offset;
    } else {
      arg.bytes = At(places[i], kernel.args[i].bytes);
    }
    args.push_back(arg);
  }
  SharedVmem shared(kernel, args);
  std::vector<BundleTrace> traces(call.cores);
  const auto run = [&](int core, isa::PeerPort* peer) -> absl::Status {
    isa::Core* const c = cores_[core].get();
    if (call.cores > 1) shared.Enter(core, c);
    ASSIGN_OR_RETURN(traces[core],
                     ExecuteBundles(plan, device, c, args, core, peer));
    if (call.cores > 1) shared.Leave(c);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(isa::RunCores(kernel, call.cores, run));
  if (call.cores > 1) shared.Store(cores_[0].get());
  return traces;
}

void ProgramData::Copy(const isa::CopyStart& copy) {
  // VMEM grows on demand, which moves it: take the target's place first.
  At(copy.to, copy.bytes);
  const absl::Span<uint8_t> from = At(copy.from, copy.SourceBytes());
  const absl::Span<uint8_t> to = At(copy.to, copy.bytes);
  const int64_t piece = copy.bytes / copy.pieces;
  for (int64_t p = 0; p < copy.pieces; ++p) {
    std::memmove(to.data() + p * piece, from.data() + p * copy.from_stride,
                 static_cast<size_t>(piece));
  }
}

absl::StatusOr<int> ProgramData::Select(const isa::Conditional& branch) {
  const int n = static_cast<int>(branch.branches.size());
  int32_t value = 0;
  if (branch.by_pred) {
    return At(branch.selector, 1)[0] != 0 ? 0 : 1;
  }
  std::memcpy(&value, At(branch.selector, 4).data(), 4);
  // XLA: an index out of range takes the last branch.
  return value < 0 || value >= n ? n - 1 : value;
}

absl::Status ProgramData::CheckCollective(
    const isa::CollectiveStart& start) const {
  const bool alone =
      start.groups.empty()
          ? program_.num_partitions == 1
          : std::all_of(start.groups.begin(), start.groups.end(),
                        [](const auto& g) { return g.size() == 1; });
  if (alone && start.kind != isa::CollectiveKind::kPermute) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "a collective over several devices: the data of one device are simulated "
      "(--verify)");
}

void ProgramData::Collect(const isa::CollectiveStart& start) {
  for (size_t i = 0; i < start.from.size() && i < start.to.size(); ++i) {
    const isa::Buffer& from = program_.buffers[start.from[i].buffer];
    const isa::Buffer& to = program_.buffers[start.to[i].buffer];
    isa::CopyStart copy;
    copy.from = start.from[i];
    copy.to = start.to[i];
    copy.bytes =
        std::min(from.bytes - copy.from.offset, to.bytes - copy.to.offset);
    Copy(copy);
  }
}

}  // namespace ptxla::sim

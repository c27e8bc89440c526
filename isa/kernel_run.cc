#include "isa/kernel_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::isa {
namespace {

bool IsStore(const Instr& i) {
  return IsVectorStore(i.op) || i.op == Opcode::kSst;
}

}  // namespace

KernelRun::KernelRun(const Kernel& kernel, absl::Span<const ArgMemory> args,
                     int core, int cores, const MachineModel& machine,
                     const SemanticsTable& semantics, bool check_hazards,
                     ExecContext* context, DmaClock* clock, PeerPort* peer)
    : kernel_(kernel),
      args_(args),
      machine_(machine),
      semantics_(semantics),
      check_hazards_(check_hazards),
      context_(context),
      clock_(clock),
      walk_(kernel, core, cores),
      pipeline_(machine),
      dma_(kernel, args, absl::MakeSpan(context->vmem()),
           absl::MakeSpan(context->smem()), peer) {
  for (int w = 0; w < kernel.windows.size(); ++w) {
    last_transfer_.push_back(CountTransfers(kernel, w, core, cores) - 1);
  }
}

absl::StatusOr<int64_t> KernelRun::Run() {
  if (walk_.num_steps() == 0) return 0;
  RETURN_IF_ERROR(RunPhase(Phase::kEntry, kernel_.entry)) << "entry";
  for (int64_t s = 0; s < walk_.num_steps(); ++s) {
    if (s > 0) walk_.Next();
    RETURN_IF_ERROR(RunPhase(Phase::kStep, kernel_.step)) << "step " << s;
  }
  RETURN_IF_ERROR(RunPhase(Phase::kExit, kernel_.exit)) << "exit";
  RETURN_IF_ERROR(dma_.CheckIdle());
  return now_;
}

int64_t KernelRun::WindowAddress(int window) {
  const Window& w = kernel_.windows[window];
  if (!IsResident(kernel_, w)) {
    return dma_.SlotAddress(window, walk_.BlockChanges(window, walk_.step()));
  }
  return args_[w.arg].address + UnclampedStart(w);
}

absl::Status KernelRun::StartWindow(int window) {
  if (phase_ != Phase::kEntry) {
    const int64_t number = walk_.StartedTransfer(window);
    if (number < 0) return absl::OkStatus();
    return StartTransfer(window, number, walk_.StartBox(window));
  }
  if (kernel_.windows[window].direction != Direction::kIn) {
    return absl::InternalError("dma.start of an output in entry");
  }
  int64_t number = 0;
  for (const int64_t step : walk_.EntrySteps(window)) {
    RETURN_IF_ERROR(
        StartTransfer(window, number++, walk_.BoxOfStep(window, step)));
  }
  return absl::OkStatus();
}

absl::Status KernelRun::WaitWindow(int window) {
  const bool in = kernel_.windows[window].direction == Direction::kIn;
  int64_t number = walk_.AwaitedTransfer(window);
  if (phase_ == Phase::kEntry) number = in ? 0 : -1;
  if (phase_ == Phase::kExit && !in) number = last_transfer_[window];
  if (number < 0) return absl::OkStatus();
  StallUntil(clock_->OnWait({DmaEvent::Kind::kWait, window, 0, number}, now_));
  return dma_.Complete(window, number);
}

absl::Status KernelRun::StartDescriptor(int descriptor, int64_t source,
                                        int64_t destination) {
  const DmaDescriptor& d = kernel_.descriptors[descriptor];
  if (d.src_arg >= 0) source <<= d.arg_shift;
  if (d.dst_arg >= 0) destination <<= d.arg_shift;
  Box box;
  box.bytes = d.Bytes();
  box.chunk_bytes = d.inner_bytes;
  box.chunks = d.inner_bytes == 0 ? 0 : box.bytes / d.inner_bytes;
  box.hbm_start = d.src_arg >= 0 ? source : destination;
  clock_->OnStart(
      {DmaEvent::Kind::kStartDescriptor, descriptor, d.CountedBytes()}, box,
      now_);
  return dma_.StartDescriptor(descriptor, source, destination);
}

absl::Status KernelRun::WaitSemaphore(int semaphore, int64_t bytes) {
  StallUntil(
      clock_->OnWait({DmaEvent::Kind::kWaitSemaphore, semaphore, bytes}, now_));
  return dma_.WaitSemaphore(semaphore, bytes);
}

absl::Status KernelRun::Signal(int semaphore, int64_t bytes) {
  clock_->OnStart({DmaEvent::Kind::kSignal, semaphore, bytes}, Box{}, now_);
  dma_.Signal(semaphore, bytes);
  return absl::OkStatus();
}

// Where the block would start in the argument, clamping aside.
int64_t KernelRun::UnclampedStart(const Window& w) const {
  int64_t at = w.hbm_offset;
  for (const WindowDim& dim : w.dims) {
    at += (dim.origin + dim.Advance() * BlockIndex(dim, walk_.index())) *
          dim.hbm_stride;
  }
  return at;
}

absl::Status KernelRun::StartTransfer(int window, int64_t number,
                                      const Box& box) {
  const DmaEvent event{DmaEvent::Kind::kStart, window, 0, number};
  clock_->OnStart(event, box, now_);
  return dma_.Start(window, number, box);
}

void KernelRun::StallUntil(int64_t cycle) {
  const int64_t wait = std::max<int64_t>(0, cycle - now_);
  now_ += wait;
  stalled_ += wait;
  pipeline_.Stall(wait);
}

absl::Status KernelRun::RunPhase(Phase phase, const Code& code) {
  phase_ = phase;
  return RunCode(code);
}

absl::Status KernelRun::RunCode(const Code& code) {
  for (const Node& node : code) {
    if (const Block* block = node.block()) {
      RETURN_IF_ERROR(RunBlock(*block));
    } else if (const Loop* loop = node.loop()) {
      RETURN_IF_ERROR(RunLoop(*loop));
    } else if (const When* when = node.when(); walk_.Holds(*when)) {
      RETURN_IF_ERROR(RunCode(when->body));
    }
  }
  return absl::OkStatus();
}

absl::Status KernelRun::RunLoop(const Loop& loop) {
  uint32_t counter = 0;
  const int64_t trips = loop.count == kNoReg
                            ? loop.trips
                            : static_cast<int32_t>(context_->S(loop.count));
  for (int64_t i = 0; i < trips; ++i) {
    if (loop.counter != kNoReg) context_->CommitNow(loop.counter, counter);
    counter += static_cast<uint32_t>(loop.increment);
    const int64_t start = now_ - stalled_;
    RETURN_IF_ERROR(RunCode(loop.body));
    // The branch's delay slots, where the body is shorter.
    const int64_t took = now_ - stalled_ - start;
    const int64_t least = 1 + machine_.branch_delay_slots;
    if (took < least) {
      now_ += least - took;
      pipeline_.Stall(least - took);
    }
  }
  return absl::OkStatus();
}

absl::Status KernelRun::RunBlock(const Block& block) {
  for (int b = 0; b < block.NumBundles(); ++b) {
    absl::Status status = RunBundle(block.Bundle(b));
    if (!status.ok()) {
      return AddContext(status, absl::StrCat("block \"", block.label,
                                             "\" bundle ", b, " cycle ", now_));
    }
  }
  return absl::OkStatus();
}

bool KernelRun::GuardHolds(const Instr& i) const {
  if (i.guard == 0) return true;
  const bool value = context_->P((i.guard & 0x7F) - 1);
  return (i.guard & 0x80) != 0 ? !value : value;
}

absl::Status KernelRun::RunBundle(absl::Span<const Instr> bundle) {
  // DMA first: data arrives before the loads of the wait's own bundle, and
  // its stall delays the whole bundle.
  for (const Instr& i : bundle) {
    if (IsDma(i.op)) Execute(i);
  }
  if (check_hazards_) {
    RETURN_IF_ERROR(pipeline_.Issue(bundle));
  }
  // Stores last, so that loads of the bundle see memory as it was.
  bool stores = false;
  for (const Instr& i : bundle) {
    if (IsStore(i)) {
      stores = true;
    } else if (!IsDma(i.op)) {
      Execute(i);
    }
  }
  if (stores) {
    for (const Instr& i : bundle) {
      if (IsStore(i)) Execute(i);
    }
  }
  context_->Commit();
  now_ += BundleCycles(bundle);
  ++bundles_;
  return context_->status();
}

}  // namespace ptxla::isa

#include "isa/interpreter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "isa/dma_state.h"
#include "isa/index_tables.h"
#include "isa/pipeline.h"
#include "isa/semantics/table.h"
#include "isa/verify_structure.h"

namespace ptxla::isa {
namespace {

void GrowTo(std::vector<uint8_t>* memory, int64_t bytes) {
  if (bytes > static_cast<int64_t>(memory->size())) memory->resize(bytes, 0xFF);
}

// One run of a kernel on one core.
class KernelRun : public KernelEnvironment {
 public:
  enum class Phase { kEntry, kStep, kExit };

  KernelRun(const Kernel& kernel, absl::Span<const ArgMemory> args, int core,
            int cores, const MachineModel& machine,
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

  absl::StatusOr<int64_t> Run() {
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

  int64_t bundles() const { return bundles_; }

  // --- KernelEnvironment
  int64_t GridIndex(int dim) override { return walk_.index()[dim]; }

  int64_t WindowAddress(int window) override {
    const Window& w = kernel_.windows[window];
    if (!IsResident(kernel_, w)) {
      return dma_.SlotAddress(window, walk_.BlockChanges(window, walk_.step()));
    }
    return args_[w.arg].address + UnclampedStart(w);
  }

  int64_t WindowLength(int window, int dim) override {
    return walk_.CurrentBox(window).size[dim];
  }
  int64_t ArgAddress(int arg) override { return args_[arg].address; }
  int64_t ScratchAddress() override { return kernel_.scratch_offset; }

  absl::Status StartWindow(int window) override {
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

  absl::Status WaitWindow(int window) override {
    const bool in = kernel_.windows[window].direction == Direction::kIn;
    int64_t number = walk_.AwaitedTransfer(window);
    if (phase_ == Phase::kEntry) number = in ? 0 : -1;
    if (phase_ == Phase::kExit && !in) number = last_transfer_[window];
    if (number < 0) return absl::OkStatus();
    StallUntil(
        clock_->OnWait({DmaEvent::Kind::kWait, window, 0, number}, now_));
    return dma_.Complete(window, number);
  }

  absl::Status StartDescriptor(int descriptor, int64_t source,
                               int64_t destination) override {
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

  absl::Status WaitSemaphore(int semaphore, int64_t bytes) override {
    StallUntil(clock_->OnWait(
        {DmaEvent::Kind::kWaitSemaphore, semaphore, bytes}, now_));
    return dma_.WaitSemaphore(semaphore, bytes);
  }

  absl::Status Signal(int semaphore, int64_t bytes) override {
    clock_->OnStart({DmaEvent::Kind::kSignal, semaphore, bytes}, Box{}, now_);
    dma_.Signal(semaphore, bytes);
    return absl::OkStatus();
  }

 private:
  // Where the block would start in the argument, clamping aside.
  int64_t UnclampedStart(const Window& w) const {
    int64_t at = w.hbm_offset;
    for (const WindowDim& dim : w.dims) {
      at += (dim.origin + dim.Advance() * BlockIndex(dim, walk_.index())) *
            dim.hbm_stride;
    }
    return at;
  }

  absl::Status StartTransfer(int window, int64_t number, const Box& box) {
    const DmaEvent event{DmaEvent::Kind::kStart, window, 0, number};
    clock_->OnStart(event, box, now_);
    return dma_.Start(window, number, box);
  }

  void StallUntil(int64_t cycle) {
    const int64_t wait = std::max<int64_t>(0, cycle - now_);
    now_ += wait;
    stalled_ += wait;
    pipeline_.Stall(wait);
  }

  absl::Status RunPhase(Phase phase, const Code& code) {
    phase_ = phase;
    return RunCode(code);
  }

  absl::Status RunCode(const Code& code) {
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

  absl::Status RunLoop(const Loop& loop) {
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

  absl::Status RunBlock(const Block& block) {
    for (int b = 0; b < block.NumBundles(); ++b) {
      absl::Status status = RunBundle(block.Bundle(b));
      if (!status.ok()) {
        return AddContext(status,
                          absl::StrCat("block \"", block.label, "\" bundle ", b,
                                       " cycle ", now_));
      }
    }
    return absl::OkStatus();
  }

  bool GuardHolds(const Instr& i) const {
    if (i.guard == 0) return true;
    const bool value = context_->P((i.guard & 0x7F) - 1);
    return (i.guard & 0x80) != 0 ? !value : value;
  }

  absl::Status RunBundle(absl::Span<const Instr> bundle) {
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

  static bool IsStore(const Instr& i) {
    return IsVectorStore(i.op) || i.op == Opcode::kSst;
  }

  void Execute(const Instr& i) {
    if (GuardHolds(i)) semantics_.Get(i.op)(*context_, i);
  }

  const Kernel& kernel_;
  absl::Span<const ArgMemory> args_;
  const MachineModel& machine_;
  const SemanticsTable& semantics_;
  const bool check_hazards_;
  ExecContext* context_;
  DmaClock* clock_;
  GridWalk walk_;
  Pipeline pipeline_;
  DmaState dma_;
  std::vector<int64_t> last_transfer_;
  Phase phase_ = Phase::kEntry;
  int64_t now_ = 0;
  int64_t stalled_ = 0;
  int64_t bundles_ = 0;
};

}  // namespace

class Core::Impl {
 public:
  Impl(const MachineModel& machine, InterpreterOptions options)
      : machine_(machine),
        semantics_(options.semantics != nullptr ? *options.semantics
                                                : SemanticsTable::Default()),
        check_hazards_(options.check_hazards),
        context_(machine_) {}

  absl::StatusOr<int64_t> Run(const Kernel& kernel,
                              absl::Span<const ArgMemory> args, int core,
                              int cores, DmaClock* clock, PeerPort* peer) {
    if (args.size() != kernel.args.size()) {
      return absl::InternalError(absl::StrCat("kernel \"", kernel.name,
                                              "\" takes ", kernel.args.size(),
                                              " arguments, not ", args.size()));
    }
    RETURN_IF_ERROR(VerifyStructure(kernel, machine_))
        << "kernel \"" << kernel.name << "\"";
    GrowTo(&context_.vmem(), kernel.vmem_bytes);
    GrowTo(&context_.smem(), kernel.smem_bytes);
    for (int a = 0; a < args.size(); ++a) {
      const int64_t end = args[a].address + kernel.args[a].bytes;
      if (kernel.args[a].space == Space::kVmem) GrowTo(&context_.vmem(), end);
      if (kernel.args[a].space == Space::kSmem) GrowTo(&context_.smem(), end);
    }
    Kernel on_data;
    if (HasDataTables(kernel)) {
      on_data = kernel;
      RETURN_IF_ERROR(
          ReadTables(args, context_.vmem(), context_.smem(), &on_data))
          << "kernel \"" << kernel.name << "\"";
    }
    context_.Reset();
    DmaClock instant;
    KernelRun run(HasDataTables(kernel) ? on_data : kernel, args, core, cores,
                  machine_, semantics_, check_hazards_, &context_,
                  clock == nullptr ? &instant : clock, peer);
    context_.kernel = &run;
    absl::StatusOr<int64_t> cycles = run.Run();
    context_.kernel = nullptr;
    bundles_ += run.bundles();
    if (!cycles.ok()) {
      return AddContext(cycles.status(),
                        absl::StrCat("kernel \"", kernel.name, "\""));
    }
    return cycles;
  }

  ExecContext& context() { return context_; }
  int64_t bundles() const { return bundles_; }

 private:
  const MachineModel machine_;
  const SemanticsTable semantics_;
  const bool check_hazards_;
  ExecContext context_;
  int64_t bundles_ = 0;
};

Core::Core(const MachineModel& machine, InterpreterOptions options)
    : impl_(std::make_unique<Impl>(machine, options)) {}
Core::~Core() = default;

absl::StatusOr<int64_t> Core::Run(const Kernel& kernel,
                                  absl::Span<const ArgMemory> args, int core,
                                  int cores, DmaClock* clock, PeerPort* peer) {
  return impl_->Run(kernel, args, core, cores, clock, peer);
}

absl::Span<uint8_t> Core::vmem(int64_t bytes) {
  GrowTo(&impl_->context().vmem(), bytes);
  return absl::MakeSpan(impl_->context().vmem());
}

absl::Span<uint8_t> Core::smem(int64_t bytes) {
  GrowTo(&impl_->context().smem(), bytes);
  return absl::MakeSpan(impl_->context().smem());
}

int64_t Core::bundles_executed() const { return impl_->bundles(); }

}  // namespace ptxla::isa

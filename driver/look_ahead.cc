#include "driver/look_ahead.h"

#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "lazy/device.h"
#include "lazy/executor.h"
#include "lazy/lowering.h"
#include "workloads/catalog.h"

namespace ptxla::driver {
namespace {

// An optimizer has its state from the first step on: later ones trace what the
// second one does.
constexpr int kSteps = 2;

}  // namespace

// Shows the graphs of step barriers, and computes nothing.
class LookAhead::Tracer : public lazy::Executor {
 public:
  explicit Tracer(LookAhead* ahead) : ahead_(*ahead) {}

  void OnNode(const lazy::Device&, const lazy::Node&) override {}
  void OnTransferToDevice(const lazy::DeviceData&) override {}

  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    if (sync.tensors.empty()) return absl::OkStatus();
    ahead_.Prepare(sync);
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }

  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("nothing is computed");
  }

 private:
  LookAhead& ahead_;
};

LookAhead::LookAhead(const workloads::WorkloadSpec& spec,
                     const chips::Slice& slice, hlo::CompileOptions options)
    : spec_(spec),
      slice_(slice),
      programs_(options.earlier),
      options_([&] {
        options.earlier = [this] { return AwaitPrograms(); };
        return std::move(options);
      }()),
      thread_([this] { Run(); }) {}

LookAhead::~LookAhead() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

bool LookAhead::IsStopped() {
  absl::MutexLock lock(&mutex_);
  return stop_;
}

void LookAhead::Run() {
  Tracer tracer(this);
  {
    lazy::Device device(&tracer);
    auto workload = workloads::MakeWorkload(spec_, &device,
                                            {slice_.topology.num_devices()});
    for (int step = 0; workload.ok() && step < kSteps && !IsStopped(); ++step) {
      if (!(*workload)->Step().ok()) break;
    }
  }
  absl::MutexLock lock(&mutex_);
  is_over_ = true;
}

void LookAhead::Prepare(const lazy::SyncGraph& sync) {
  const bool is_first = seen_.empty();
  if (!seen_.insert(sync.hash).second || is_first || IsStopped()) return;
  lazy::LoweringOptions lowering;
  lowering.donors = sync.donors;
  lowering.replica_count = slice_.topology.num_devices();
  auto module = lazy::LowerToHlo(sync.graph, lowering);
  if (!module.ok()) return;
  auto passed = hlo::CompilePasses(*std::move(module), slice_.chip,
                                   slice_.topology, options_);
  if (!passed.ok()) return;
  // Later programs take kernels of the second one too, wherever that is by
  // then.
  const bool is_second = seen_.size() == 2;
  CompiledAhead ahead = is_second ? Finish(*std::move(passed))
                                  : CompiledAhead(*std::move(passed));
  absl::MutexLock lock(&mutex_);
  ready_.emplace(sync.hash, std::move(ahead));
}

CompiledAhead LookAhead::Finish(hlo::PassedModule passed) const {
  auto compiled = hlo::CompilePassed(std::move(passed), slice_.chip, options_);
  // Whoever asks compiles it again, and has the error.
  if (!compiled.ok()) return std::monostate();
  return *std::move(compiled);
}

absl::StatusOr<lowering::Programs> LookAhead::AwaitPrograms() {
  absl::MutexLock lock(&mutex_);
  const auto decided = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return may_go_on_ || stop_;
  };
  mutex_.Await(absl::Condition(&decided));
  if (stop_) return absl::CancelledError("the run is over");
  if (!programs_) return lowering::Programs();
  return programs_();
}

void LookAhead::GoOn() {
  absl::MutexLock lock(&mutex_);
  may_go_on_ = true;
}

CompiledAhead LookAhead::Take(uint64_t graph_hash) {
  absl::MutexLock lock(&mutex_);
  may_go_on_ = true;
  const auto known = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return is_over_ || ready_.contains(graph_hash);
  };
  mutex_.Await(absl::Condition(&known));
  const auto it = ready_.find(graph_hash);
  if (it == ready_.end()) return {};
  CompiledAhead ahead = std::move(it->second);
  ready_.erase(it);
  return ahead;
}

}  // namespace ptxla::driver

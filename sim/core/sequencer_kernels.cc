// Kernels of a program: by their roofline, event by event, on data, from the
// cache of those that ran alone, or as flows of bytes beside copies.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "isa/matmul_type.h"
#include "sim/core/roofline.h"
#include "sim/core/sequencer.h"

namespace ptxla::sim {
namespace {

// Beside copies, kernels of up to so many grid steps run event by event even
// where longer ones are a fluid: a fluid has no steps, so it is wrong by a part
// of one, and of few steps that is much. They cost little.
constexpr int64_t kStepsOfFluid = 64;

// The slowest flow through HBM, of BandwidthServer::kFullRate: rates are whole
// numbers, and a kernel that draws less than 0.2 % of HBM's bandwidth waits for
// nobody.
constexpr int64_t kSlowestFlow = 1024;

// The rate at which `work` is done in so many cycles.
int64_t FlowRate(int64_t work, int64_t cycles) {
  const int64_t ticks = std::max<int64_t>(1, cycles * kTicksPerCycle);
  return static_cast<int64_t>(static_cast<double>(work) *
                              memory::BandwidthServer::kFullRate /
                              static_cast<double>(ticks));
}

int64_t StepsOf(const KernelPlan& plan) {
  int64_t steps = 0;
  for (const auto& of_core : plan.steps) {
    steps = std::max(steps, static_cast<int64_t>(of_core.size()));
  }
  return steps;
}

}  // namespace

void Sequencer::KernelEnded(const KernelResult& result) {
  current_.bounds = result.bounds;
  current_.use = result.use;
  until_ = current_.start + result.cycles;
  pending_ = Pending::kKernel;
}

absl::Status Sequencer::BeginCall(const isa::Call& call, int64_t now) {
  if (detail_ == KernelDetail::kRoofline) {
    const isa::Kernel& kernel = program_.kernels[call.kernel];
    RooflineWork work;
    work.mxu_flops = kernel.work.mxu_flops;
    work.vpu_flops = kernel.work.flops - kernel.work.mxu_flops;
    work.hbm_bytes = kernel.work.hbm_bytes;
    work.cores = call.cores;
    work.type = isa::MatmulTypeOf(kernel);
    KernelResult result;
    result.bounds = RooflineCycles(work, device_);
    result.cycles = result.bounds.total();
    KernelEnded(result);
    return absl::OkStatus();
  }
  const KernelPlan& plan = cache_->Plan(call);
  current_.plan = &plan;
  if (detail_ == KernelDetail::kBundles) {
    ASSIGN_OR_RETURN(traces_, data_->Execute(call, plan, device_));
    run_ = Action{Action::Kind::kRunKernel, now, -1, &plan, &traces_};
    run_kernel_ = true;
    return absl::OkStatus();
  }
  const bool alone = dma_->Idle(Memory::kHbm);
  if (detail_ == KernelDetail::kEvents ||
      (!alone && StepsOf(plan) <= kStepsOfFluid)) {
    run_ = Action{Action::Kind::kRunKernel, now, -1, &plan};
    run_kernel_ = true;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const KernelResult result, cache_->Result(call));
  KernelEnded(result);
  if (alone) return absl::OkStatus();
  pending_ = Pending::kFluidKernel;
  fluid_rate_ = -1;
  for (int core = 0; core < plan.cores; ++core) {
    if (FlowRate(plan.hbm_work[core], result.cycles) < kSlowestFlow) continue;
    jobs_.push_back(
        {core, dma_->SubmitJob(now, Memory::kHbm, core, plan.hbm_work[core],
                               memory::BandwidthServer::kFullRate, 0)});
  }
  return absl::OkStatus();
}

// Beside copies or collectives, each core of a kernel is a flow of its bytes
// through HBM: at the rate at which it draws them when the others always have
// work, until one of them ends; then at the rate that goes with what is left.
absl::StatusOr<bool> Sequencer::FluidEnded(int64_t now) {
  const auto ended = [&](const FluidJob& job) {
    const int64_t done = dma_->DoneCycle(job.transfer);
    if (done == kUnknownCycle) return false;
    until_ = std::max(until_, done);
    return true;
  };
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), ended), jobs_.end());
  if (jobs_.empty()) return true;
  const KernelPlan& plan = *current_.plan;
  const int64_t rate = dma_->CoreRate(static_cast<int>(jobs_.size()));
  if (rate == fluid_rate_) return false;
  fluid_rate_ = rate;
  const auto& call = std::get<isa::Call>(current_.op->action);
  for (const FluidJob& job : jobs_) {
    ASSIGN_OR_RETURN(const KernelResult result,
                     cache_->CoreResult(call, job.core, rate));
    const int64_t cap = FlowRate(plan.hbm_work[job.core], result.cycles);
    dma_->SetCap(
        now, Memory::kHbm, job.core,
        std::clamp<int64_t>(cap, 1, memory::BandwidthServer::kFullRate));
  }
  return false;
}

std::unique_ptr<CoreProcess> MakeProcess(const Action& action, int core,
                                         DmaPort* port, int64_t start) {
  if (action.traces != nullptr) {
    return std::make_unique<ReplayProcess>(*action.plan, (*action.traces)[core],
                                           core, port, start);
  }
  return std::make_unique<KernelProcess>(*action.plan, core, core, port, start);
}

}  // namespace ptxla::sim

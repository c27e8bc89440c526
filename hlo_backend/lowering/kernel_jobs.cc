#include "hlo_backend/lowering/kernel_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/verifier.h"

namespace ptxla::lowering {
namespace {

bool IsKnown(const KernelJob& job) {
  return job.earlier != nullptr || job.kept.has_value();
}

MadeKernel Make(KernelJob& job, const KernelContext& context,
                const LoweringOptions& options) {
  MadeKernel made;
  const bool known = IsKnown(job);
  if (job.earlier != nullptr) {
    made.kernel = *job.earlier;
  } else if (job.kept.has_value()) {
    made.kernel = *std::move(job.kept);
  } else {
    made.kernel = EmitKernel(context, *job.instruction);
    const absl::Status& status = made.kernel.status();
    if (options.unknown_ops == LoweringOptions::UnknownOps::kEstimate &&
        (absl::IsUnimplemented(status) || absl::IsResourceExhausted(status))) {
      made.kernel = EmitEstimate(context, *job.instruction, status.message());
    } else if (absl::IsUnimplemented(status)) {
      made.kernel = absl::UnimplementedError(
          absl::StrCat(status.message(), kEstimateAdvice));
    }
  }
  made.estimated = !known && made.kernel.ok() && IsEstimate(*made.kernel);
  if (made.kernel.ok() && options.verify) {
    const absl::Status valid = isa::VerifyKernel(*made.kernel, context.model);
    if (!valid.ok()) made.kernel = valid;
  }
  return made;
}

}  // namespace

std::vector<MadeKernel> MakeKernels(absl::Span<KernelJob> jobs,
                                    const chips::ChipSpec& chip,
                                    const isa::MachineModel& model,
                                    const LoweringOptions& options,
                                    codegen::BlockCache* blocks,
                                    LoweringStats* stats) {
  const int n = static_cast<int>(jobs.size());
  const int64_t scheduled = blocks->size(), reused = blocks->hits();
  std::vector<MadeKernel> made(n);
  // Two kernels take longer to make than a thread.
  const auto known = std::count_if(jobs.begin(), jobs.end(), IsKnown);
  const int workers = ParallelWorkers((n - static_cast<int>(known)) / 2);
  Activity making("making kernels");
  ParallelFor(n, workers, [&](int, int i) {
    making.OneMore(n, jobs[i].instruction->name());
    made[i] = Make(jobs[i], KernelContext{chip, model, blocks}, options);
  });
  stats->blocks_scheduled += blocks->size() - scheduled;
  stats->blocks_reused += blocks->hits() - reused;
  return made;
}

}  // namespace ptxla::lowering

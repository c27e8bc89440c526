#include "hlo_backend/lowering/kernel_jobs.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/parallel.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/verifier.h"

namespace ptxla::lowering {
namespace {

MadeKernel Make(const KernelJob& job, const KernelContext& context,
                const LoweringOptions& options) {
  MadeKernel made;
  if (job.earlier != nullptr) {
    made.kernel = *job.earlier;
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
  made.estimated =
      job.earlier == nullptr && made.kernel.ok() && IsEstimate(*made.kernel);
  if (made.kernel.ok() && options.verify) {
    const absl::Status valid = isa::VerifyKernel(*made.kernel, context.model);
    if (!valid.ok()) made.kernel = valid;
  }
  return made;
}

}  // namespace

std::vector<MadeKernel> MakeKernels(absl::Span<const KernelJob> jobs,
                                    const chips::ChipSpec& chip,
                                    const isa::MachineModel& model,
                                    const LoweringOptions& options,
                                    LoweringStats* stats) {
  const int n = static_cast<int>(jobs.size());
  // A few kernels are not worth a thread.
  const int workers = ParallelWorkers(n / 8);
  // Blocks that kernels of different workers share are scheduled twice: that
  // costs less than asking each other.
  std::vector<std::unique_ptr<codegen::BlockCache>> caches;
  for (int w = 0; w < workers; ++w) {
    caches.push_back(std::make_unique<codegen::BlockCache>(model));
  }
  std::vector<MadeKernel> made(n);
  ParallelFor(n, workers, [&](int worker, int i) {
    const KernelContext context{chip, model, caches[worker].get()};
    made[i] = Make(jobs[i], context, options);
  });
  for (const auto& cache : caches) {
    stats->blocks_scheduled += cache->size();
    stats->blocks_reused += cache->hits();
  }
  return made;
}

}  // namespace ptxla::lowering

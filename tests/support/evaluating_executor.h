// For tests: a device behind lazy tensors that computes. Every step barrier
// lowers the pending graph to HLO, evaluates it, and gives the tensors their
// values, so that small models really train. It has numbers and no clocks.
//
//   EvaluatingExecutor executor;
//   lazy::Device device(&executor);
//   ...
//   RETURN_IF_ERROR(device.Sync());
//   ASSIGN_OR_RETURN(hlo::Literal loss, device.Read(loss_tensor));
//
// Compiles (plans) once per graph hash, as the simulated TPU does.
#ifndef PTXLA_TESTS_SUPPORT_EVALUATING_EXECUTOR_H_
#define PTXLA_TESTS_SUPPORT_EVALUATING_EXECUTOR_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/module.h"
#include "lazy/device.h"
#include "lazy/executor.h"
#include "lazy/sync.h"
#include "runtime/compile_cache.h"

namespace ptxla::testing {

class EvaluatingExecutor : public lazy::Executor {
 public:
  explicit EvaluatingExecutor(hlo::EvaluatorOptions options = {});

  void OnNode(const lazy::Device& device, const lazy::Node& node) override;
  void OnTransferToDevice(const lazy::DeviceData& data) override;
  absl::Status Sync(lazy::Device* device) override;
  absl::StatusOr<hlo::Literal> Read(lazy::Device* device,
                                    lazy::LazyTensor* tensor) override;

  int64_t graphs_planned() const { return graphs_planned_; }
  int64_t graphs_run() const { return graphs_run_; }

 private:
  struct Plan {
    std::unique_ptr<hlo::Module> module;
    std::unique_ptr<hlo::Evaluator> evaluator;
  };
  // One literal per root of the graph.
  absl::StatusOr<std::vector<hlo::Literal>> Run(const lazy::SyncGraph& sync);
  absl::StatusOr<Plan*> FindPlan(const lazy::SyncGraph& sync);

  hlo::EvaluatorOptions options_;
  runtime::CompileCache<Plan> cache_;
  int64_t graphs_planned_ = 0, graphs_run_ = 0;
};

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_SUPPORT_EVALUATING_EXECUTOR_H_

#include "tests/support/evaluating_executor.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "lazy/lowering.h"

namespace ptxla::testing {
namespace {

struct Value : lazy::DeviceData::Payload {
  hlo::Literal literal;
};

void SetValue(hlo::Literal literal, lazy::DeviceData* data) {
  auto value = std::make_unique<Value>();
  value->literal = std::move(literal);
  data->payload = std::move(value);
}

// What comes from the host is made when it is first needed.
const hlo::Literal& ValueOf(lazy::DeviceData* data) {
  if (data->payload == nullptr) {
    SetValue(lazy::Materialize(data->host_value, data->shape()), data);
  }
  const auto* value = dynamic_cast<const Value*>(data->payload.get());
  CHECK(value != nullptr) << "a buffer of another executor";
  return value->literal;
}

}  // namespace

EvaluatingExecutor::EvaluatingExecutor(hlo::EvaluatorOptions options)
    : options_(options), cache_(runtime::kCompileCacheEntries) {}

void EvaluatingExecutor::OnNode(const lazy::Device&, const lazy::Node&) {}
void EvaluatingExecutor::OnTransferToDevice(const lazy::DeviceData&) {}

absl::StatusOr<EvaluatingExecutor::Plan*> EvaluatingExecutor::FindPlan(
    const lazy::SyncGraph& sync) {
  if (Plan* plan = cache_.Find(sync.hash)) return plan;
  lazy::LoweringOptions lowering;
  lowering.donors = sync.donors;
  Plan plan;
  ASSIGN_OR_RETURN(plan.module, lazy::LowerToHlo(sync.graph, lowering));
  plan.evaluator =
      std::make_unique<hlo::Evaluator>(plan.module.get(), options_);
  ++graphs_planned_;
  return cache_.Insert(sync.hash, std::move(plan));
}

absl::StatusOr<std::vector<hlo::Literal>> EvaluatingExecutor::Run(
    const lazy::SyncGraph& sync) {
  ASSIGN_OR_RETURN(Plan * plan, FindPlan(sync));
  std::vector<hlo::Literal> arguments;
  arguments.reserve(sync.graph.parameters.size());
  for (const lazy::DeviceDataPtr& data : sync.graph.parameters) {
    arguments.push_back(ValueOf(data.get()));
  }
  ASSIGN_OR_RETURN(hlo::Literal result, plan->evaluator->Run(arguments));
  ++graphs_run_;
  return std::move(*result.mutable_elements());
}

absl::Status EvaluatingExecutor::Sync(lazy::Device* device) {
  const lazy::SyncGraph sync = lazy::CollectSync(device);
  if (sync.tensors.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<hlo::Literal> values, Run(sync));
  const std::vector<lazy::DeviceDataPtr> outputs =
      lazy::MakeOutputBuffers(device, sync);
  CHECK_EQ(values.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    SetValue(std::move(values[i]), outputs[i].get());
  }
  lazy::FinishSync(sync, outputs);
  return absl::OkStatus();
}

absl::StatusOr<hlo::Literal> EvaluatingExecutor::Read(
    lazy::Device*, lazy::LazyTensor* tensor) {
  if (tensor->data() != nullptr) return ValueOf(tensor->data().get());
  ASSIGN_OR_RETURN(std::vector<hlo::Literal> values,
                   Run(lazy::CollectTensors({tensor})));
  CHECK_EQ(values.size(), 1);
  return std::move(values[0]);
}

}  // namespace ptxla::testing

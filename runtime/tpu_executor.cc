#include "runtime/tpu_executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "lazy/lowering.h"
#include "lazy/op_kind.h"

namespace ptxla::runtime {
namespace {

// What the executor knows about a buffer that a program computes.
struct Placeholder : lazy::DeviceData::Payload {
  Picoseconds enqueued, ready;
};

double Nanoseconds(Picoseconds t) {
  return static_cast<double>(t.count()) / 1e3;
}

int64_t LiveTensors(lazy::Device* device) {
  int64_t count = 0;
  for (auto* t = device->first_tensor(); t != nullptr; t = t->next()) ++count;
  return count;
}

}  // namespace

TpuExecutor::TpuExecutor(const HostCosts& costs, CompileFunction compile,
                         TpuExecutorOptions options)
    : compile_(std::move(compile)),
      options_(options),
      replay_(costs, options.record_spans),
      cache_(kCompileCacheEntries) {}

std::optional<Execution> TpuExecutor::Apply(HostEvent event,
                                            const std::string& name) {
  step_.log.push_back(event);
  return replay_.Apply(event, name);
}

void TpuExecutor::OnNode(const lazy::Device& device, const lazy::Node& node) {
  counter_.OnNode(device, node);
  ++nodes_of_kind_[static_cast<size_t>(node.kind())];
}

void TpuExecutor::OnInPlace(const lazy::Device&, const lazy::Node& node) {
  counter_.OnInPlace(node);
}

void TpuExecutor::CountNodes() {
  for (size_t kind = 0; kind < nodes_of_kind_.size(); ++kind) {
    if (nodes_of_kind_[kind] == 0) continue;
    const absl::string_view op = lazy::OpName(static_cast<lazy::OpKind>(kind));
    if (absl::StartsWith(op, "aten::")) {
      metrics_.lazy.AddCounter(absl::StrCat("xla::", op.substr(6)),
                               nodes_of_kind_[kind]);
    }
    nodes_of_kind_[kind] = 0;
  }
}

void TpuExecutor::FlushTracing() {
  const PerHostWork<int64_t> counts = counter_.Take();
  const Picoseconds begin = now();
  for (int i = 0; i < kTracingWorkCount; ++i) {
    if (counts[i] > 0) {
      Apply(HostEvent::Work(static_cast<HostWork>(i), counts[i]));
    }
  }
  const Picoseconds time = now() - begin;
  if (time.count() == 0) return;
  metrics_.lazy.AddSample("LazyTracing", MetricKind::kTime, begin,
                          Nanoseconds(time));
  step_.record.set_trace_ps(step_.record.trace_ps() + time.count());
}

void TpuExecutor::OnTransferToDevice(const lazy::DeviceData& data) {
  FlushTracing();
  const Bytes bytes(data.shape().ByteSize());
  const Picoseconds begin = now();
  Apply({HostEvent::kUpload, 0, bytes, Picoseconds(0)});
  const Picoseconds time =
      replay_.last_duration() + bytes / replay_.costs().pcie;
  step_.record.set_transfer_ps(step_.record.transfer_ps() + time.count());
  metrics_.runtime.AddSample("TransferToDeviceTime", MetricKind::kTime, begin,
                             Nanoseconds(time));
  metrics_.runtime.AddSample("OutboundData", MetricKind::kBytes, begin,
                             static_cast<double>(bytes.count()));
  metrics_.runtime.AddCounter("CreateDataHandles");
}

absl::StatusOr<const Executable*> TpuExecutor::Compile(
    const lazy::SyncGraph& sync, Timing* timing) {
  metrics_.lazy.AddCounter("UncachedCompile");
  metrics_.lazy.AddSample("InputOutputAliasCount", MetricKind::kValue, now(),
                          static_cast<double>(sync.donors.size()));
  const auto nodes = static_cast<int64_t>(sync.graph.nodes.size());
  Apply(HostEvent::Work(HostWork::kLowerNode, nodes));
  timing->sync += replay_.last_duration();
  lazy::LoweringOptions lowering;
  lowering.donors = sync.donors;
  lowering.replica_count = options_.replica_count;
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module,
                   lazy::LowerToHlo(sync.graph, lowering),
                   _ << "while lowering the lazy graph");
  GraphInfo info;
  info.hash = sync.hash;
  info.nodes = nodes;
  info.traced = &sync;
  for (const lazy::DeviceDataPtr& data : sync.graph.parameters) {
    info.parameter_labels.push_back(data->label);
  }
  ASSIGN_OR_RETURN(Executable executable, compile_(std::move(module), info));
  timing->compile = executable.compile_time;
  metrics_.runtime.AddCounter("CreateCompileHandles");
  metrics_.runtime.AddSample("CompileTime", MetricKind::kTime, now(),
                             Nanoseconds(executable.compile_time));
  Apply({HostEvent::kCompile, 0, Bytes(0), executable.compile_time});
  return cache_.Insert(sync.hash, std::move(executable));
}

absl::StatusOr<TpuExecutor::Timing> TpuExecutor::RunGraph(
    const lazy::SyncGraph& sync) {
  Timing timing;
  const auto nodes = static_cast<int64_t>(sync.graph.nodes.size());
  Apply(HostEvent::Work(HostWork::kWalkNode, nodes));
  timing.sync += replay_.last_duration();
  metrics_.lazy.AddSample("TensorsGraphSize", MetricKind::kValue, now(),
                          static_cast<double>(nodes));
  const auto lock = [&] {
    Apply({HostEvent::kBarrier, 0, Bytes(0), Picoseconds(0)});
    timing.sync += replay_.last_duration();
    metrics_.lazy.AddSample("DeviceLockWait", MetricKind::kTime, now(),
                            Nanoseconds(replay_.last_duration()));
  };
  const bool placeholders = std::any_of(
      sync.graph.parameters.begin(), sync.graph.parameters.end(),
      [&](const lazy::DeviceDataPtr& data) {
        const auto* p = dynamic_cast<const Placeholder*>(data->payload.get());
        return p != nullptr && p->enqueued > now();
      });
  if (placeholders) lock();
  timing.executable = cache_.Find(sync.hash);
  timing.cached = timing.executable != nullptr;
  if (timing.cached) {
    metrics_.lazy.AddCounter("CachedCompile");
  } else {
    ASSIGN_OR_RETURN(timing.executable, Compile(sync, &timing));
  }
  lock();
  metrics_.lazy.AddCounter(options_.replica_count > 1 ? "ExecuteReplicated"
                                                      : "ExecuteComputation");
  HostEvent launch = {HostEvent::kLaunch, timing.executable->program, Bytes(0),
                      timing.executable->device_time};
  launch.buffers =
      static_cast<int64_t>(sync.graph.parameters.size() + sync.tensors.size());
  timing.execution = *Apply(launch, timing.executable->name);
  executions_.push_back({timing.executable->program, timing.execution});
  metrics_.runtime.AddSample(
      "ExecuteTime", MetricKind::kTime, timing.execution.end,
      Nanoseconds(timing.execution.end - timing.execution.enqueued +
                  replay_.costs().launch));
  return timing;
}

void TpuExecutor::HandOver(lazy::Device* device, const lazy::SyncGraph& sync,
                           const Execution& execution) {
  const std::vector<lazy::DeviceDataPtr> outputs =
      lazy::MakeOutputBuffers(device, sync);
  for (const lazy::DeviceDataPtr& output : outputs) {
    auto payload = std::make_unique<Placeholder>();
    payload->enqueued = execution.enqueued;
    payload->ready = execution.end;
    output->payload = std::move(payload);
  }
  metrics_.runtime.AddCounter("CreateDataHandles",
                              static_cast<int64_t>(outputs.size()));
  lazy::FinishSync(sync, outputs);
}

absl::Status TpuExecutor::Sync(lazy::Device* device) {
  FlushTracing();
  CountNodes();
  metrics_.lazy.AddCounter("CreateXlaTensor",
                           device->tensors_made() - tensors_counted_);
  tensors_counted_ = device->tensors_made();
  record::StepRecord& record = step_.record;
  Apply(HostEvent::Work(HostWork::kCollectTensor, LiveTensors(device)));
  Picoseconds sync_time = replay_.last_duration();
  const lazy::SyncGraph sync = lazy::CollectSync(device);
  if (sync.tensors.empty()) {
    Apply({HostEvent::kBarrier, 0, Bytes(0), Picoseconds(0)});
    sync_time += replay_.last_duration();
  } else {
    ASSIGN_OR_RETURN(const Timing timing, RunGraph(sync));
    HandOver(device, sync, timing.execution);
    sync_time += timing.sync;
    step_.program = timing.executable->program;
    record.set_compile_ps(timing.compile.count());
    record.set_device_begin_ps(timing.execution.begin.count());
    record.set_device_end_ps(timing.execution.end.count());
    record.set_cached(timing.cached);
    record.set_graph_hash(HashToHex(sync.hash));
  }
  metrics_.runtime.AddCounter("MarkStep");
  record.set_index(static_cast<int>(steps_.size()));
  record.set_sync_ps(sync_time.count());
  record.set_end_ps(now().count());
  steps_.push_back(std::move(step_));
  step_ = StepTrace();
  step_.record.set_begin_ps(now().count());
  return absl::OkStatus();
}

absl::StatusOr<hlo::Literal> TpuExecutor::Read(lazy::Device*,
                                               lazy::LazyTensor* tensor) {
  FlushTracing();
  metrics_.runtime.AddCounter("aten::_local_scalar_dense");
  if (tensor->data() == nullptr) {
    RETURN_IF_ERROR(RunGraph(lazy::CollectTensors({tensor})).status());
  }
  const Picoseconds begin = now();
  Apply({HostEvent::kReadBack, 0, Bytes(0), Picoseconds(0)});
  metrics_.runtime.AddSample("TransferFromDeviceTime", MetricKind::kTime, begin,
                             Nanoseconds(replay_.last_duration()));
  metrics_.runtime.AddSample("InboundData", MetricKind::kBytes, begin,
                             static_cast<double>(tensor->shape().ByteSize()));
  return absl::UnimplementedError(
      "the simulated TPU has clocks, not numbers: a program cannot depend on "
      "the value of a tensor");
}

}  // namespace ptxla::runtime

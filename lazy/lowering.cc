#include "lazy/lowering.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "lazy/lowering/emitter.h"
#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {
namespace {

LowerFn FindLowering(OpKind kind) {
  switch (kind) {
    case OpKind::kDeviceData:
      return nullptr;  // a parameter
    case OpKind::kConstant:
      return LowerConstant;
    case OpKind::kCast:
      return LowerCast;
    case OpKind::kView:
      return LowerView;
    case OpKind::kPermute:
      return LowerPermute;
    case OpKind::kExpand:
      return LowerExpand;
    case OpKind::kSelect:
    case OpKind::kGenericSlice:
      return LowerSlice;
    case OpKind::kUpdateSlice:
      return LowerUpdateSlice;
    case OpKind::kUnselect:
      return LowerUnselect;
    case OpKind::kStack:
      return LowerStack;
    case OpKind::kAdd:
      return LowerAdd;
    case OpKind::kRsub:
      return LowerRsub;
    case OpKind::kMul:
      return LowerMul;
    case OpKind::kDiv:
      return LowerDiv;
    case OpKind::kPow:
      return LowerPow;
    case OpKind::kNe:
      return LowerNe;
    case OpKind::kLt:
      return LowerLt;
    case OpKind::kWhere:
      return LowerWhere;
    case OpKind::kSqrt:
      return LowerSqrt;
    case OpKind::kTanh:
      return LowerTanh;
    case OpKind::kRelu:
      return LowerRelu;
    case OpKind::kThresholdBackward:
      return LowerThresholdBackward;
    case OpKind::kGelu:
      return LowerGelu;
    case OpKind::kGeluBackward:
      return LowerGeluBackward;
    case OpKind::kSoftmax:
      return LowerSoftmax;
    case OpKind::kSoftmaxBackward:
      return LowerSoftmaxBackward;
    case OpKind::kLogSoftmax:
      return LowerLogSoftmax;
    case OpKind::kLogSoftmaxBackward:
      return LowerLogSoftmaxBackward;
    case OpKind::kNllLoss:
      return LowerNllLoss;
    case OpKind::kNllLossBackward:
      return LowerNllLossBackward;
    case OpKind::kSum:
      return LowerSum;
    case OpKind::kMm:
    case OpKind::kMatmul:
      return LowerMatmul;
    case OpKind::kAddmm:
      return LowerAddmm;
    case OpKind::kIndexSelect:
      return LowerIndexSelect;
    case OpKind::kIndexPut:
      return LowerIndexPut;
    case OpKind::kBernoulli:
      return LowerBernoulli;
    case OpKind::kConvolution:
      return LowerConvolution;
    case OpKind::kConvolutionBackward:
      return LowerConvolutionBackward;
    case OpKind::kMaxPool:
      return LowerMaxPool;
    case OpKind::kMaxPoolBackward:
      return LowerMaxPoolBackward;
    case OpKind::kMean:
      return LowerMean;
    case OpKind::kMovingAverage:
      return LowerMovingAverage;
    case OpKind::kNativeBatchNorm:
      return LowerBatchNorm;
    case OpKind::kNativeBatchNormBackward:
      return LowerBatchNormBackward;
    case OpKind::kAddcmul:
      return LowerAddcmul;
    case OpKind::kAddcdiv:
      return LowerAddcdiv;
    case OpKind::kLerp:
      return LowerLerp;
    case OpKind::kCrossReplicaSum:
      return LowerCrossReplicaSum;
  }
  return nullptr;
}

// One Metadata per kind, scope and place, shared by all their instructions.
class MetadataTable {
 public:
  std::shared_ptr<const hlo::Metadata> Get(const Node& node) {
    const Origin& origin = node.origin();
    const Key key(origin.scope, origin.line, node.kind(), origin.backward);
    std::shared_ptr<const hlo::Metadata>& entry = table_[key];
    if (entry) return entry;
    hlo::Metadata m;
    m.op_type = HloOpType(node.kind());
    m.op_name =
        origin.scope
            ? absl::StrCat(*origin.scope, origin.backward ? "/backward/" : "/",
                           m.op_type)
            : m.op_type;
    if (origin.file) m.source_file = origin.file;
    m.source_line = origin.line;
    return entry = std::make_shared<const hlo::Metadata>(std::move(m));
  }

 private:
  using Key = std::tuple<const std::string*, int, OpKind, bool>;
  absl::flat_hash_map<Key, std::shared_ptr<const hlo::Metadata>> table_;
};

// Replicas that the graph's collectives name; 1 without collectives.
int64_t ReplicasNamed(const Graph& graph) {
  int64_t count = 1;
  for (const Node* node : graph.nodes) {
    if (node->kind() != OpKind::kCrossReplicaSum) continue;
    for (const auto& group : node->attrs<CollectiveAttrs>().groups) {
      for (int64_t replica : group) count = std::max(count, replica + 1);
    }
  }
  return count;
}

// The layouts of the entry: parameters as they are, results row-major.
void SetEntryLayout(hlo::Module* module) {
  hlo::ProgramShape layout = module->entry()->program_shape();
  std::vector<hlo::Shape> results;
  for (const hlo::Shape& result : layout.result.elements()) {
    results.push_back(hlo::Shape::ArrayRowMajor(result.type(), result.dims()));
  }
  layout.result = hlo::Shape::Tuple(std::move(results));
  module->mutable_config()->entry_layout = std::move(layout);
}

}  // namespace

absl::StatusOr<std::unique_ptr<hlo::Module>> LowerToHlo(
    const Graph& graph, const LoweringOptions& options) {
  HloEmitter emitter(options.name);
  MetadataTable metadata;
  const NodeNumbers number(graph);
  std::vector<LoweringOutput> outputs(graph.nodes.size());
  std::vector<hlo::Instruction*> parameters(graph.parameters.size(), nullptr);
  std::vector<hlo::Instruction*> in;
  size_t leaf = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    if (options.metadata) emitter.set_metadata(metadata.Get(node));
    if (node.kind() == OpKind::kDeviceData) {
      hlo::Instruction*& p = parameters[graph.parameter_sequence[leaf++]];
      if (p == nullptr) p = emitter.Parameter(node.shape());
      outputs[i] = {p};
      continue;
    }
    in.clear();
    for (const Value& operand : node.operands()) {
      in.push_back(outputs[number[operand.node.get()]][operand.index]);
    }
    const LowerFn lower = FindLowering(node.kind());
    if (lower == nullptr) {
      return absl::UnimplementedError(absl::StrCat(OpName(node.kind()), " of ",
                                                   node.shape().ToString(),
                                                   " has no lowering to HLO"));
    }
    outputs[i] = lower({node, emitter, in});
    CHECK(outputs[i][0]->shape().dims() == node.shape().dims() &&
          outputs[i][0]->shape().type() == node.shape().type())
        << OpName(node.kind()) << " of " << node.shape().ToString()
        << " was lowered to " << outputs[i][0]->ToString();
  }
  std::vector<hlo::Instruction*> roots;
  roots.reserve(graph.roots.size());
  for (const Value& root : graph.roots) {
    roots.push_back(outputs[number[root.node.get()]][root.index]);
  }
  std::unique_ptr<hlo::Module> module = emitter.Finish(roots);
  hlo::ModuleConfig* config = module->mutable_config();
  if (options.row_major_results) SetEntryLayout(module.get());
  for (int donor : options.donors) config->buffer_donors.push_back({donor, {}});
  const int64_t replicas =
      options.replica_count > 0 ? options.replica_count : ReplicasNamed(graph);
  if (replicas > 1) config->replica_count = replicas;
  return module;
}

}  // namespace ptxla::lazy

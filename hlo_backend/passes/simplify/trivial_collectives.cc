#include "hlo_backend/passes/simplify/trivial_collectives.h"

#include <algorithm>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/expanders/ragged_exchange.h"

namespace ptxla::hlo {
namespace {

// The devices of the module as the pass gets it: counting them takes a walk
// over all instructions.
struct Devices {
  int64_t count = 1, partitions = 1;
};

// Every group has one device. Groups that a channel id makes groups of replicas
// have all partitions of these (XLA's CollectiveOpGroupMode).
bool IsAlone(const Instruction& i, const Devices& devices) {
  const auto& attrs = i.attrs<CollectiveAttrs>();
  if (devices.count == 1) return true;
  if (attrs.groups.group_size(devices.count) != 1) return false;
  return !attrs.channel_id.has_value() || attrs.use_global_device_ids ||
         devices.partitions == 1 || i.opcode() == Opcode::kAllToAll ||
         i.opcode() == Opcode::kCollectiveBroadcast;
}

// Every device sends to itself.
bool IsIdentity(const Instruction& permute, const Devices& devices) {
  const auto& pairs = permute.attrs<PermuteAttrs>().source_target_pairs;
  return static_cast<int64_t>(pairs.size()) == devices.count &&
         std::all_of(pairs.begin(), pairs.end(),
                     [](const auto& p) { return p.first == p.second; });
}

// Nobody sends: all get zeros.
bool IsSilent(const Instruction& i) {
  const auto* attrs = i.attrs_if<PermuteAttrs>();
  return attrs != nullptr && attrs->source_target_pairs.empty();
}

bool IsTrivial(const Instruction& i, const Devices& devices) {
  switch (i.opcode()) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kReduceScatter:
      return IsAlone(i, devices);
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return i.operand_count() == 1 && (IsSilent(i) || IsIdentity(i, devices));
    default:
      return false;
  }
}

// What `collective` gives, in the form of `result`.
Instruction* Given(Instruction* collective, const Instruction& result) {
  Builder b(collective->parent());
  b.set_metadata(result.shared_metadata());
  if (IsSilent(*collective)) {
    Instruction* zero = b.Zero(result.shape().type());
    return result.shape().IsScalar()
               ? zero
               : b.BroadcastScalar(zero, result.shape().dims());
  }
  if (result.shape().IsArray()) return collective->operand(0);
  return b.Tuple(collective->operands());
}

Instruction* ValueOf(Instruction* i, const Devices& devices) {
  switch (i->opcode()) {
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectivePermuteStart:
      return nullptr;  // its other half is replaced
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduceDone:
    case Opcode::kCollectivePermuteDone:
      return IsTrivial(*i->operand(0), devices) ? Given(i->operand(0), *i)
                                                : nullptr;
    case Opcode::kRaggedAllToAll:
      return IsAlone(*i, devices) ? RowsMovedWithin(i) : nullptr;
    default:
      return IsTrivial(*i, devices) ? Given(i, *i) : nullptr;
  }
}

}  // namespace

absl::StatusOr<bool> TrivialCollectivesPass::Run(Module* module,
                                                 const PassContext&) {
  const Devices devices{module->DeviceCount(), module->num_partitions()};
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* value = ValueOf(i, devices);
      if (value == nullptr || value->shape() != i->shape()) continue;
      Instruction* start = i->operand_count() > 0 ? i->operand(0) : nullptr;
      const bool done = start != nullptr && IsTrivial(*start, devices);
      c->Replace(i, value);
      if (done && start->user_count() == 0) c->Remove(start);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo

#include "hlo_backend/passes/fusion/staging.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/planes_in_place.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// More stages are a long kernel to make and gain little.
constexpr size_t kMostStages = 64;

// A reduce over dimensions of size 1 moves (squeeze_to_reduce.h).
bool Squeezes(const Instruction& reduce) {
  return reduce.opcode() == Opcode::kReduce && reduce.operand_count() == 2 &&
         reduce.operand(0)->shape().ElementCount() ==
             reduce.shape().ElementCount();
}

bool HasReduce(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) {
    return kernel.opcode() == Opcode::kReduce && !Squeezes(kernel);
  }
  return kernel.fusion_kind() != FusionKind::kLoop;
}

// All that is made of the value, element by element, is broadcast.
bool OnlySpread(const Instruction& value) {
  return value.user_count() > 0 &&
         std::all_of(value.users().begin(), value.users().end(),
                     [](const Instruction* user) {
                       return user->opcode() == Opcode::kBroadcast ||
                              (user->IsElementwise() && OnlySpread(*user));
                     });
}

// Every element of what `value` computes is read for several of the kernel's:
// computed there it would be computed as often.
bool Spreads(const Instruction& kernel, const Instruction& value) {
  if (value.opcode() == Opcode::kDynamicSlice) return false;
  if (kernel.opcode() == Opcode::kBroadcast) return true;
  if (kernel.opcode() != Opcode::kFusion) return false;
  for (int k = 0; k < kernel.operand_count(); ++k) {
    if (PlaceOf(kernel.operand(k)).maker != &value) continue;
    if (OnlySpread(*kernel.fused()->parameter(k))) return true;
  }
  return false;
}

// Every result is one number: work of the scalar unit, perhaps.
bool MakesScalars(const Instruction& kernel) {
  if (!kernel.shape().IsTuple()) return kernel.shape().IsScalar();
  return std::all_of(kernel.shape().elements().begin(),
                     kernel.shape().elements().end(),
                     [](const Shape& element) { return element.IsScalar(); });
}

// A kernel that reads everything in VMEM, and may be read there. (Planes of a
// stack that a loop walks are read where they lie: no kernel.)
bool IsStage(const Instruction& i) {
  return MayBeStage(i) && !SlicesState(i) && MayLieInVmem(i) &&
         !MakesScalars(i) && !BoundsPaddedRows(i) &&
         i.control_predecessors().empty() && i.control_successors().empty() &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return o->IsConstant() || ReadsInVmem(i, *o);
                     });
}

// What kernels read and make, each array once.
class StageArrays {
 public:
  void AddKernel(const Instruction& i) {
    for (const Instruction* o : i.operands()) {
      if (o->shape().IsScalar()) continue;
      const bool part =
          i.opcode() == Opcode::kSlice || i.opcode() == Opcode::kDynamicSlice;
      read_.emplace(PlaceOf(o), PaddedBytes(part ? i.shape() : o->shape()));
    }
    makers_.insert(&i);
    ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex&) {
      made_ += PaddedBytes(leaf);
    });
  }
  // Of arrays that come from outside.
  int64_t BytesRead() const {
    int64_t bytes = 0;
    for (const auto& [place, size] : read_) {
      if (!makers_.contains(place.maker)) bytes += size;
    }
    return bytes;
  }
  int64_t BytesMade() const { return made_; }

 private:
  absl::flat_hash_map<MemoryPlace, int64_t> read_;
  absl::flat_hash_set<const Instruction*> makers_;
  int64_t made_ = 0;
};

// Bytes that a kernel of stages may read from outside, and make.
struct Limits {
  int64_t read = 0, made = 0;
};

class Stager {
 public:
  Stager(Computation* c, const Limits& limits) : c_(c), limits_(limits) {}

  bool Run() {
    const std::vector<Instruction*> order = c_->PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) Place(*it);
    bool changed = false;
    for (const Group& group : groups_) {
      if (group.stages.size() < 2) continue;
      Build(group);
      changed = true;
    }
    return changed;
  }

 private:
  struct Group {
    std::vector<Instruction*> stages;
    StageArrays arrays;
  };

  // Adds the kernels that read `value`, by whatever name. False: something
  // else reads it, too.
  static bool FindReaders(const Instruction& value,
                          std::vector<const Instruction*>* readers) {
    for (const Instruction* user : value.users()) {
      // Words of rows of half bytes mean nothing inside of a fusion.
      if (user->opcode() == Opcode::kBitcast &&
          user->shape().type() != value.shape().type()) {
        return false;
      }
      if (OnlyNamesMemory(*user) && user->opcode() != Opcode::kAddDependency) {
        if (!FindReaders(*user, readers)) return false;
      } else if (user->opcode() == Opcode::kTuple && user->IsRoot()) {
        continue;
      } else {
        readers->push_back(user);
      }
    }
    return true;
  }

  // The groups that hold all readers; none, if something else is one.
  std::vector<int> GroupsOfReaders(const Instruction& i) const {
    std::vector<const Instruction*> readers;
    if (!FindReaders(i, &readers)) return {};
    std::vector<int> groups;
    for (const Instruction* reader : readers) {
      const auto found = group_of_.find(reader);
      // A dynamic slice is fetched by a transfer of its own.
      if (found == group_of_.end() || Spreads(*reader, i) ||
          reader->opcode() == Opcode::kDynamicSlice) {
        return {};
      }
      if (std::find(groups.begin(), groups.end(), found->second) ==
          groups.end()) {
        groups.push_back(found->second);
      }
    }
    return groups;
  }

  void Place(Instruction* i) {
    if (!IsStage(*i)) return;
    if (!HasReduce(*i)) {
      const std::vector<int> groups = GroupsOfReaders(*i);
      if (groups.size() == 1 && Join(groups[0], i)) return;
    }
    Group group;
    group.stages.push_back(i);
    group.arrays.AddKernel(*i);
    group_of_[i] = static_cast<int>(groups_.size());
    groups_.push_back(std::move(group));
  }

  bool Join(int g, Instruction* i) {
    Group& group = groups_[g];
    if (group.stages.size() >= kMostStages) return false;
    StageArrays arrays = group.arrays;
    arrays.AddKernel(*i);
    if (arrays.BytesRead() > limits_.read ||
        arrays.BytesMade() > limits_.made) {
      return false;
    }
    group.arrays = std::move(arrays);
    group.stages.push_back(i);
    group_of_[i] = g;
    return true;
  }

  // The names by which stages read `value` inside: each bitcast that others
  // read, too, has a copy for them.
  void TakeNames(Instruction* user, int number,
                 const absl::flat_hash_set<const Instruction*>& stages,
                 std::vector<Instruction*>* all,
                 absl::flat_hash_set<const Instruction*>* taken) {
    Instruction* value = user->operand(number);
    // A reduce is nothing without its start value, nor a pad without its.
    const bool needed =
        user->opcode() == Opcode::kReduce || user->opcode() == Opcode::kPad;
    if (needed && value->IsConstant() && value->shape().IsScalar()) {
      Instruction* copy = c_->AddLike(*value, value->shape(), {});
      user->ReplaceOperand(number, copy);
      all->push_back(copy);
      return;
    }
    if (!stages.contains(PlaceOf(value).maker)) return;
    if (value->opcode() == Opcode::kGetTupleElement) {
      if (taken->insert(value).second) all->push_back(value);
      return;
    }
    if (value->opcode() != Opcode::kBitcast) return;
    if (value->user_count() > 1) {
      value = c_->AddLike(*value, value->shape(), {value->operand(0)});
      user->ReplaceOperand(number, value);
    }
    if (!taken->insert(value).second) return;
    all->push_back(value);
    TakeNames(value, 0, stages, all, taken);
  }

  void Build(const Group& group) {
    const absl::flat_hash_set<const Instruction*> stages(group.stages.begin(),
                                                         group.stages.end());
    std::vector<Instruction*> all(group.stages.rbegin(), group.stages.rend());
    absl::flat_hash_set<const Instruction*> taken;
    for (Instruction* i : group.stages) {
      // Results of a stage are taken out of its tuple inside.
      if (i->shape().IsTuple()) {
        for (Instruction* user : i->users()) {
          if (taken.insert(user).second) all.push_back(user);
        }
      }
      for (int k = 0; k < i->operand_count(); ++k) {
        TakeNames(i, k, stages, &all, &taken);
      }
    }
    const auto metadata = group.stages.front()->shared_metadata();
    Instruction* fusion =
        c_->CreateFusion(all, FusionKind::kCustom, "staged_fusion");
    fusion->set_backend_config(std::string(kStagesConfig), /*is_json=*/false);
    if (metadata != nullptr) fusion->set_metadata(metadata);
  }

  Computation* c_;
  const Limits limits_;
  std::vector<Group> groups_;
  absl::flat_hash_map<const Instruction*, int> group_of_;
};

}  // namespace

absl::StatusOr<bool> StagingPass::Run(Module* module,
                                      const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const chips::ChipSpec& chip = *context.chip;
  // A kernel's steps would be those of one core; what its neighbours make is in
  // HBM (memory_space_assignment.h).
  if (chip.CoresShareOnlyHbm()) return false;
  Limits limits;
  limits.read = static_cast<int64_t>(
      static_cast<double>(chip.hbm().latency.count()) * 1e-12 *
      static_cast<double>(chip.hbm_bandwidth_per_device().count()));
  limits.made = chip.vmem().scoped_limit.count() / 4;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    c->RemoveDead();
    changed |= Stager(c, limits).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo

#include "hlo_backend/analysis/partitioning.h"

#include "absl/strings/match.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

bool IsSpmdMarker(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return false;
  const std::string& target = i.attrs<CustomCallAttrs>().target;
  return target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target == "xla.sdy.GlobalToLocalShape" ||
         target == "xla.sdy.LocalToGlobalShape";
}

bool IsTiled(const Sharding& sharding) {
  if (sharding.kind == ShardingKind::kTiled) {
    // The last ones may say how often a tile is repeated.
    const size_t repeats = sharding.last_tile_dims.empty()
                               ? (sharding.replicate_on_last_tile_dim ? 1 : 0)
                               : sharding.last_tile_dims.size();
    int64_t tiles = 1;
    for (size_t d = 0; d + repeats < sharding.tile_dims.size(); ++d) {
      tiles *= sharding.tile_dims[d];
    }
    return tiles > 1;
  }
  if (sharding.named != nullptr) {
    for (const DimensionSharding& dim : sharding.named->dims) {
      if (!dim.axes.empty()) return true;
    }
  }
  for (const Sharding& element : sharding.tuple) {
    if (IsTiled(element)) return true;
  }
  return false;
}

// `#sdy.sharding<@mesh, [{"x"}, {}]>`: some dimension is cut along an axis.
bool IsTiled(const FrontendAttributes& attributes) {
  for (const auto& [key, value] : attributes) {
    if (key == "xla.sdy.sharding" && absl::StrContains(value, "{\"")) {
      return true;
    }
  }
  return false;
}

bool IsToBeCut(const Instruction& i) {
  return (i.sharding() != nullptr && IsTiled(*i.sharding())) ||
         IsTiled(i.frontend_attributes());
}

}  // namespace

const Instruction* FindUnpartitioned(const Module& module) {
  if (module.config().is_scheduled) return nullptr;
  const bool several = module.config().num_partitions > 1;
  const Instruction* sharded = nullptr;
  bool collective = false;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      // Between other shapes it is work even where a text (of JAX's lower())
      // does not say for how many partitions it is.
      if (IsSpmdMarker(*i) &&
          (several || i->shape().dims() != i->operand(0)->shape().dims())) {
        return i;
      }
      if (!several) continue;
      collective |= IsCollective(i->opcode());
      if (sharded != nullptr || !IsToBeCut(*i)) continue;
      // Annotations of values, not of parameters, go when it is done.
      if (i->opcode() == Opcode::kCustomCall) return i;
      sharded = i;
    }
  }
  return collective ? nullptr : sharded;
}

const Instruction* FindIgnoredSharding(const Module& module) {
  if (module.config().is_scheduled || module.config().num_partitions > 1) {
    return nullptr;
  }
  const Instruction* sharded = nullptr;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (IsCollective(i->opcode())) return nullptr;
      if (sharded == nullptr && IsToBeCut(*i)) sharded = i;
    }
  }
  return sharded;
}

}  // namespace ptxla::hlo

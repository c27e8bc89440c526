// Collectives, device ids, and Shardy's operations.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"
#include "hlo_backend/stablehlo/shardy.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

// dense<[[0, 1], [2, -1]]>: rows are groups, -1 fills up shorter ones.
absl::Status Groups(const Op& op, CollectiveAttrs* attrs) {
  const Attr* attr = op.Find("replica_groups");
  if (attr == nullptr || attr->dense == nullptr || attr->dense->IsElided()) {
    return absl::InvalidArgumentError("replica_groups are missing");
  }
  const Shape& shape = attr->dense->shape();
  if (shape.rank() != 2) {
    return absl::InvalidArgumentError("replica_groups are rows of devices");
  }
  ReplicaGroups::List groups(shape.dim(0));
  for (int64_t g = 0; g < shape.dim(0); ++g) {
    for (int64_t i = 0; i < shape.dim(1); ++i) {
      const int64_t id = attr->dense->GetInt(g * shape.dim(1) + i);
      if (id >= 0) groups[g].push_back(id);
    }
  }
  attrs->groups = ReplicaGroups(std::move(groups));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<int64_t>> Channel(const Op& op) {
  std::optional<int64_t> channel;
  if (op.Find("channel_handle") == nullptr) return channel;
  ASSIGN_OR_RETURN(const AttrDict f, Fields(op.attributes, {"channel_handle"}));
  const int64_t id = IntOr(f, {"handle"}, 0);
  if (id != 0) channel = id;
  return channel;
}

absl::StatusOr<CollectiveAttrs> Common(const Op& op) {
  CollectiveAttrs attrs;
  RETURN_IF_ERROR(Groups(op, &attrs));
  ASSIGN_OR_RETURN(attrs.channel_id, Channel(op));
  attrs.use_global_device_ids =
      BoolOr(op.attributes, {"use_global_device_ids"}, false);
  return attrs;
}

Result AllReduce(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const CollectiveAttrs attrs, Common(op));
  ASSIGN_OR_RETURN(Computation * combine,
                   c.RegionOf(op, 0, scope, "all_reduce_combine"));
  return scope->builder.Make(Opcode::kAllReduce, operands,
                             Boxed<CollectiveAttrs>(attrs), {combine});
}

Result ReduceScatter(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.AllResults(op));
  ASSIGN_OR_RETURN(CollectiveAttrs attrs, Common(op));
  ASSIGN_OR_RETURN(attrs.dimension, Int(op.attributes, {"scatter_dimension"}));
  ASSIGN_OR_RETURN(Computation * combine,
                   c.RegionOf(op, 0, scope, "reduce_scatter_combine"));
  return scope->builder.Make(Opcode::kReduceScatter, operands,
                             Boxed<CollectiveAttrs>(attrs), {combine}, &shape);
}

Result AllGather(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.AllResults(op));
  ASSIGN_OR_RETURN(CollectiveAttrs attrs, Common(op));
  ASSIGN_OR_RETURN(attrs.dimension, Int(op.attributes, {"all_gather_dim"}));
  return scope->builder.Make(Opcode::kAllGather, operands,
                             Boxed<CollectiveAttrs>(attrs), {}, &shape);
}

// HLO's splits and joins along one dimension: blocks that are joined along
// another one are moved there.
Result AllToAll(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  ASSIGN_OR_RETURN(CollectiveAttrs attrs, Common(op));
  ASSIGN_OR_RETURN(const int64_t split,
                   Int(op.attributes, {"split_dimension"}));
  ASSIGN_OR_RETURN(const int64_t join,
                   Int(op.attributes, {"concat_dimension"}));
  ASSIGN_OR_RETURN(const int64_t count, Int(op.attributes, {"split_count"}));
  attrs.dimension = split;
  if (operands.size() != 1) {
    return absl::UnimplementedError("an all_to_all of several tensors");
  }
  const Shape& from = operands[0]->shape();
  const int rank = from.rank();
  if (split < 0 || split >= rank || join < 0 || join >= rank || count < 1 ||
      from.dim(static_cast<int>(split)) % count != 0) {
    return absl::InvalidArgumentError("its dimensions do not fit the operand");
  }
  DimVector joined = from.dims();
  joined[split] /= count;
  joined[join] *= count;
  if (shape.dims() != joined) {
    return absl::InvalidArgumentError("its type does not fit its dimensions");
  }
  Builder& b = scope->builder;
  const Shape same = Shape::Array(from.type(), from.dims());
  ASSIGN_OR_RETURN(Instruction * all,
                   b.Make(Opcode::kAllToAll, operands,
                          Boxed<CollectiveAttrs>(attrs), {}, &same));
  if (split == join) return all;
  DimVector blocks, order;
  for (int d = 0; d < rank; ++d) {
    if (d == split) blocks.push_back(count);
    blocks.push_back(d == split ? from.dim(d) / count : from.dim(d));
  }
  // In `blocks`, dimension d of before is d, or d + 1 from the split one on.
  for (int d = 0; d < rank; ++d) {
    if (d == join) order.push_back(split);
    order.push_back(d >= split ? d + 1 : d);
  }
  return b.Reshape(b.Transpose(b.Reshape(all, blocks), order), shape.dims());
}

Result CollectivePermute(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const DimVector pairs,
                   Ints(op.attributes, {"source_target_pairs"}));
  PermuteAttrs attrs;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    attrs.source_target_pairs.emplace_back(pairs[i], pairs[i + 1]);
  }
  ASSIGN_OR_RETURN(attrs.channel_id, Channel(op));
  return scope->builder.Make(Opcode::kCollectivePermute, operands,
                             Boxed<PermuteAttrs>(attrs));
}

Result CollectiveBroadcast(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const CollectiveAttrs attrs, Common(op));
  return scope->builder.Make(Opcode::kCollectiveBroadcast, operands,
                             Boxed<CollectiveAttrs>(attrs));
}

template <Opcode opcode>
Result DeviceId(const Op& op, Converter& c, Scope* scope) {
  (void)op, (void)c;
  return scope->builder.Make(opcode, {});
}

Instruction* Annotate(Builder* b, Instruction* x, absl::string_view target,
                      const Shape& shape, const Sharding& sharding) {
  Instruction* call = b->CustomCall(target, {x}, shape);
  call->set_sharding(sharding);
  return call;
}

Result ShardingConstraint(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  const Attr* attr = op.Find("sharding");
  if (attr == nullptr) return absl::InvalidArgumentError("a sharding is due");
  ASSIGN_OR_RETURN(const Sharding sharding, c.ShardySharding(attr->text));
  return Annotate(&scope->builder, x, "Sharding", x->shape(), sharding);
}

// The body sees shards: its operands are annotated, cut, and joined again.
Result ManualComputation(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  const Attr* in = op.Find("in_shardings");
  const Attr* out = op.Find("out_shardings");
  if (in == nullptr || out == nullptr || op.regions.size() != 1 ||
      op.regions[0].arguments.size() != operands.size()) {
    return absl::InvalidArgumentError("shardings or arguments are missing");
  }
  ASSIGN_OR_RETURN(const auto in_shardings, c.ShardyShardings(in->text));
  ASSIGN_OR_RETURN(const auto out_shardings, c.ShardyShardings(out->text));
  if (in_shardings.size() != operands.size() ||
      out_shardings.size() != op.result_types.size()) {
    return absl::InvalidArgumentError("one sharding for each value");
  }
  Builder& b = scope->builder;
  const Region& region = op.regions[0];
  for (size_t i = 0; i < operands.size(); ++i) {
    Instruction* whole = Annotate(&b, operands[i], "Sharding",
                                  operands[i]->shape(), in_shardings[i]);
    scope->values[{region.arguments[i].name, 0}] =
        Annotate(&b, whole, "SPMDFullToShardShape",
                 region.arguments[i].type.shape, Sharding::Manual());
  }
  std::vector<Instruction*> results;
  RETURN_IF_ERROR(c.Body(region, scope, &results));
  if (results.size() != op.result_types.size()) {
    return absl::InvalidArgumentError("it returns another number of values");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op, static_cast<int>(i)));
    Instruction* shard = Annotate(&b, results[i], "Sharding",
                                  results[i]->shape(), Sharding::Manual());
    results[i] =
        Annotate(&b, shard, "SPMDShardToFullShape", shape, out_shardings[i]);
  }
  return results.size() == 1 ? results[0] : b.Tuple(results);
}

// The custom call of that name (handle_control.cc).
Result RaggedAllToAll(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  CollectiveAttrs attrs;
  RETURN_IF_ERROR(Groups(op, &attrs));
  const int64_t channel = IntOr(op.attributes, {"channel_id"}, 0);
  if (channel != 0) attrs.channel_id = channel;
  return scope->builder.Make(Opcode::kRaggedAllToAll, operands,
                             Boxed<CollectiveAttrs>(attrs));
}

constexpr HandlerRow kCollectivesHandlers[] = {
    {"sdy.manual_computation", ManualComputation},
    {"sdy.sharding_constraint", ShardingConstraint},
    {"stablehlo.all_gather", AllGather},
    {"stablehlo.all_reduce", AllReduce},
    {"stablehlo.all_to_all", AllToAll},
    {"stablehlo.collective_broadcast", CollectiveBroadcast},
    {"stablehlo.collective_permute", CollectivePermute},
    {"ragged_all_to_all", RaggedAllToAll},
    {"stablehlo.partition_id", DeviceId<Opcode::kPartitionId>},
    {"stablehlo.reduce_scatter", ReduceScatter},
    {"stablehlo.replica_id", DeviceId<Opcode::kReplicaId>},
};

}  // namespace

absl::Span<const HandlerRow> CollectiveHandlers() {
  return kCollectivesHandlers;
}

}  // namespace ptxla::hlo::mlir

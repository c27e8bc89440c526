// Collectives, at once or as a pair of async_start and async_done.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// Rows are groups; shorter ones are filled up with -1.
std::string GroupsEntry(const ReplicaGroups& groups) {
  const ReplicaGroups::List list = groups.Expand();
  size_t columns = 0;
  for (const auto& group : list) columns = std::max(columns, group.size());
  DimVector flat;
  for (const auto& group : list) {
    flat.insert(flat.end(), group.begin(), group.end());
    flat.insert(flat.end(), columns - group.size(), -1);
  }
  return absl::StrCat("replica_groups = ",
                      RowsText(flat, static_cast<int64_t>(columns)));
}

void AddChannel(const std::optional<int64_t>& channel,
                std::vector<std::string>* properties) {
  if (!channel.has_value()) return;
  properties->push_back(absl::StrCat(
      "channel_handle = #stablehlo.channel_handle<handle = ", *channel,
      ", type = 1>"));
}

// One StableHLO operation, with what it does to each block of lines.
struct Collective {
  Opcode opcode;                      // without -start
  const Instruction* from = nullptr;  // has the attributes
  Values operands;
  std::vector<const Shape*> results;
};

absl::StatusOr<Values> EmitPermute(const Collective& c, const Instruction* at,
                                   Writer& w) {
  const auto& a = c.from->attrs<PermuteAttrs>();
  if (!a.slice_sizes.empty() || c.operands.size() != c.results.size()) {
    return absl::UnimplementedError(
        "StableHLO has no collective_permute in place");
  }
  DimVector pairs;
  for (const auto& [source, target] : a.source_target_pairs) {
    pairs.push_back(source);
    pairs.push_back(target);
  }
  std::vector<std::string> properties;
  AddChannel(a.channel_id, &properties);
  properties.push_back(
      absl::StrCat("source_target_pairs = ", RowsText(pairs, 2)));
  Values all;  // one operation for each operand
  for (size_t n = 0; n < c.operands.size(); ++n) {
    const std::vector<const Shape*> result = {c.results[n]};
    ASSIGN_OR_RETURN(const Values made,
                     w.EmitGeneric(at, "stablehlo.collective_permute",
                                   {c.operands[n]}, properties, {}, result));
    all.push_back(made[0]);
  }
  return all;
}

// HLO's form with an operand for each device of the group: joined along a new
// dimension, exchanged, and taken apart.
absl::StatusOr<Values> EmitTupleAllToAll(const Collective& c,
                                         const Instruction* at, Writer& w) {
  const auto& a = c.from->attrs<CollectiveAttrs>();
  const Shape& part = *c.operands[0].shape;
  const int64_t count = static_cast<int64_t>(c.operands.size());
  DimVector row_dims = {1}, all_dims = {count};
  for (const int64_t d : part.dims()) {
    row_dims.push_back(d);
    all_dims.push_back(d);
  }
  const Shape* row = w.Keep(Shape::Array(part.type(), row_dims));
  const Shape* whole = w.Keep(Shape::Array(part.type(), all_dims));
  Values rows;
  for (const Value& operand : c.operands) {
    ASSIGN_OR_RETURN(
        const Value reshaped,
        EmitStep(w, nullptr, "stablehlo.reshape", {operand}, "", row));
    rows.push_back(reshaped);
  }
  ASSIGN_OR_RETURN(
      const Value joined,
      EmitStep(w, nullptr, "stablehlo.concatenate", rows, ", dim = 0", whole));
  std::vector<std::string> properties;
  AddChannel(a.channel_id, &properties);
  properties.push_back(IntEntry("concat_dimension", 0));
  properties.push_back(GroupsEntry(a.groups));
  properties.push_back(IntEntry("split_count", count));
  properties.push_back(IntEntry("split_dimension", 0));
  const std::vector<const Shape*> result = {whole};
  ASSIGN_OR_RETURN(const Values all,
                   w.EmitGeneric(at, "stablehlo.all_to_all", {joined},
                                 properties, {}, result));
  Values parts;
  for (int64_t n = 0; n < count; ++n) {
    std::string ranges = absl::StrCat(n, ":", n + 1);
    for (const int64_t d : part.dims()) absl::StrAppend(&ranges, ", 0:", d);
    ASSIGN_OR_RETURN(const Value slice,
                     EmitStep(w, nullptr, "stablehlo.slice", {all[0]},
                              absl::StrCat(" [", ranges, "]"), row));
    ASSIGN_OR_RETURN(
        const Value reshaped,
        EmitStep(w, nullptr, "stablehlo.reshape", {slice}, "", c.results[n]));
    parts.push_back(reshaped);
  }
  return parts;
}

absl::StatusOr<Values> EmitCollective(const Collective& c,
                                      const Instruction* at, Writer& w) {
  if (c.opcode == Opcode::kCollectivePermute) return EmitPermute(c, at, w);
  const auto& a = c.from->attrs<CollectiveAttrs>();
  if (c.opcode == Opcode::kAllToAll && a.dimension < 0) {
    return EmitTupleAllToAll(c, at, w);
  }
  if (c.opcode == Opcode::kAllToAll ||
      c.opcode == Opcode::kCollectiveBroadcast) {
    for (const auto& group : a.groups.Expand()) {
      if (static_cast<int64_t>(group.size()) == a.groups.group_size(0))
        continue;
      return absl::UnimplementedError(
          "StableHLO wants groups of one size here");
    }
  }
  std::vector<std::string> properties, regions;
  if (c.opcode == Opcode::kAllGather) {
    properties.push_back(IntEntry("all_gather_dim", a.dimension));
  }
  AddChannel(a.channel_id, &properties);
  if (c.opcode == Opcode::kAllToAll) {
    properties.push_back(IntEntry("concat_dimension", a.dimension));
  }
  properties.push_back(GroupsEntry(a.groups));
  if (c.opcode == Opcode::kReduceScatter) {
    properties.push_back(IntEntry("scatter_dimension", a.dimension));
  }
  if (c.opcode == Opcode::kAllToAll) {
    properties.push_back(
        IntEntry("split_count", a.groups.group_size(w.module().DeviceCount())));
    properties.push_back(IntEntry("split_dimension", a.dimension));
  }
  if (a.use_global_device_ids &&
      (c.opcode == Opcode::kAllReduce || c.opcode == Opcode::kAllGather ||
       c.opcode == Opcode::kReduceScatter)) {
    properties.push_back("use_global_device_ids");
  }
  if (c.opcode == Opcode::kAllReduce || c.opcode == Opcode::kReduceScatter) {
    ASSIGN_OR_RETURN(std::string region, w.Region(*c.from->to_apply()));
    regions.push_back(std::move(region));
  }
  const std::string name =
      absl::StrReplaceAll(OpcodeName(c.opcode), {{"-", "_"}});
  return w.EmitGeneric(at, absl::StrCat("stablehlo.", name), c.operands,
                       properties, regions, c.results);
}

absl::Status AtOnce(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(
      Values made,
      EmitCollective({i.opcode(), &i, w.OperandValues(i), LeavesOf(i.shape())},
                     &i, w));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// "stablehlo.async_start"(%0) ({ the operation }) : (T) -> future<T>.
absl::Status EmitPair(const Instruction& start, Collective c, Writer& w) {
  const Values outside = w.OperandValues(start);
  c.operands.clear();
  for (const Value& v : outside) c.operands.push_back(w.NewArgument(*v.shape));
  ASSIGN_OR_RETURN(const std::string region,
                   w.RegionOn(c.operands, true, [&]() -> absl::Status {
                     ASSIGN_OR_RETURN(const Values made,
                                      EmitCollective(c, &start, w));
                     return w.Return("stablehlo.return", made);
                   }));
  Values results;
  for (const Shape* shape : c.results) results.push_back({"", shape});
  ASSIGN_OR_RETURN(std::string types, w.Types(results));
  Value future;
  future.type = absl::StrCat("!stablehlo.future<",
                             types.substr(1, types.size() - 2), ">");
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(outside));
  op.head =
      absl::StrCat("\"stablehlo.async_start\"(", names, ") (", region, ")");
  ASSIGN_OR_RETURN(const std::string before, w.Types(outside));
  op.types = absl::StrCat(before, " -> ", future.type);
  const std::vector<const Shape*> one = {&start.shape()};
  ASSIGN_OR_RETURN(const Values made, w.Emit(nullptr, std::move(op), one));
  future.name = made[0].name;
  w.DefinePending(start, {future});
  return absl::OkStatus();
}

absl::Status Start(const Instruction& i, Writer& w) {
  Collective c;
  c.from = &i;
  if (i.opcode() == Opcode::kAllReduceStart) {
    c.opcode = Opcode::kAllReduce;
    c.results = LeavesOf(i.shape());
  } else {
    c.opcode = i.opcode() == Opcode::kAllGatherStart
                   ? Opcode::kAllGather
                   : Opcode::kCollectivePermute;
    c.results = LeavesOf(i.shape().element(1));
  }
  if (c.opcode == Opcode::kCollectivePermute && i.operand_count() != 1) {
    return absl::UnimplementedError(
        "StableHLO's collective_permute takes one operand");
  }
  return EmitPair(i, std::move(c), w);
}

bool HasPair(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather ||
         opcode == Opcode::kAllToAll || opcode == Opcode::kCollectivePermute ||
         opcode == Opcode::kCollectiveBroadcast ||
         opcode == Opcode::kReduceScatter;
}

}  // namespace

absl::Status EmitDone(const Instruction& i, Writer& w) {
  const Values started = w.ValuesOf(i.operand(0));
  if (started.size() != 1 || started[0].type.empty()) {
    w.Define(i, started);  // it was done at the start
    return absl::OkStatus();
  }
  if (i.opcode() == Opcode::kAsyncUpdate) {
    w.DefinePending(i, started);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Values made,
                   w.EmitGeneric(nullptr, "stablehlo.async_done", started, {},
                                 {}, LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// A pair if the computation is one collective, else a call at the start.
absl::Status EmitAsyncStart(const Instruction& i, Writer& w) {
  const Computation& wrapped = *i.called()[0];
  const Instruction* root = wrapped.root();
  bool is_one = HasPair(root->opcode()) &&
                wrapped.instruction_count() == wrapped.parameter_count() + 1 &&
                root->operand_count() == wrapped.parameter_count();
  for (int p = 0; is_one && p < wrapped.parameter_count(); ++p) {
    is_one = root->operand(p) == wrapped.parameter(p);
  }
  const bool is_tuple_exchange =
      root->opcode() == Opcode::kAllToAll && root->operand_count() != 1;
  const bool is_many_permutes = root->opcode() == Opcode::kCollectivePermute &&
                                root->operand_count() != 1;
  if (is_one && !is_tuple_exchange && !is_many_permutes) {
    return EmitPair(i, {root->opcode(), root, {}, LeavesOf(root->shape())}, w);
  }
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(root->shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head =
      absl::StrCat("func.call ", w.FunctionName(wrapped), "(", names, ")");
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.DefinePending(i, std::move(made));
  return absl::OkStatus();
}

namespace {

absl::Status DeviceId(const Instruction& i, Writer& w) {
  const std::string name =
      absl::StrReplaceAll(OpcodeName(i.opcode()), {{"-", "_"}});
  OpText op;
  op.head = absl::StrCat("stablehlo.", name);
  ASSIGN_OR_RETURN(op.types, TypeText(i.shape()));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// JAX's and XLA's word for what StableHLO has no operation of.
absl::Status RaggedAllToAll(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<CollectiveAttrs>();
  // XLA wants a channel; 0 is none.
  const std::string config =
      absl::StrCat("channel_id = ", a.channel_id.value_or(0), " : i64, ",
                   GroupsEntry(a.groups));
  return EmitSame(
      i, w, "stablehlo.custom_call",
      {"api_version = 4 : i32", absl::StrCat("backend_config = {", config, "}"),
       "call_target_name = \"ragged_all_to_all\""});
}

constexpr EmitterRow kCollectivesEmitters[] = {
    {Opcode::kAllGather, AtOnce},
    {Opcode::kAllGatherDone, EmitDone},
    {Opcode::kAllGatherStart, Start},
    {Opcode::kAllReduce, AtOnce},
    {Opcode::kAllReduceDone, EmitDone},
    {Opcode::kAllReduceStart, Start},
    {Opcode::kAllToAll, AtOnce},
    {Opcode::kCollectiveBroadcast, AtOnce},
    {Opcode::kCollectivePermute, AtOnce},
    {Opcode::kCollectivePermuteDone, EmitDone},
    {Opcode::kCollectivePermuteStart, Start},
    {Opcode::kPartitionId, DeviceId},
    {Opcode::kRaggedAllToAll, RaggedAllToAll},
    {Opcode::kReduceScatter, AtOnce},
    {Opcode::kReplicaId, DeviceId},
};

}  // namespace

absl::Span<const EmitterRow> CollectiveEmitters() {
  return kCollectivesEmitters;
}

}  // namespace ptxla::hlo::mlir

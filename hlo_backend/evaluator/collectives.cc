#include "hlo_backend/evaluator/collectives.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/reduce.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

using PerDevice = std::vector<std::vector<Value>>;
using Groups = std::vector<std::vector<int64_t>>;

// The groups as device ids. What the listed numbers mean depends on channel id
// and use_global_device_ids (XLA's CollectiveOpGroupMode).
absl::StatusOr<Groups> DeviceGroups(const Instruction& i,
                                    const DeviceSet& devices) {
  const CollectiveAttrs& attrs = i.attrs<CollectiveAttrs>();
  Groups listed = attrs.groups.Expand();
  const int64_t replicas = devices.replicas;
  const int64_t partitions = devices.partitions;
  const bool channel = attrs.channel_id.has_value();
  if (channel && attrs.use_global_device_ids) {
    if (listed.empty()) {
      return absl::InvalidArgumentError(
          "use_global_device_ids without replica groups");
    }
    return listed;
  }
  const bool by_partition =
      channel && (i.opcode() == Opcode::kAllToAll ||
                  i.opcode() == Opcode::kCollectiveBroadcast);
  if (listed.empty()) {
    listed.emplace_back();
    for (int64_t k = 0; k < (by_partition ? partitions : replicas); ++k) {
      listed[0].push_back(k);
    }
  }
  Groups groups;
  if (by_partition) {  // groups of partitions, in every replica
    for (int64_t r = 0; r < replicas; ++r) {
      for (const auto& group : listed) {
        groups.emplace_back();
        for (int64_t p : group) groups.back().push_back(r * partitions + p);
      }
    }
  } else if (channel) {  // groups of replicas, with all their partitions
    for (const auto& group : listed) {
      groups.emplace_back();
      for (int64_t r : group) {
        for (int64_t p = 0; p < partitions; ++p) {
          groups.back().push_back(r * partitions + p);
        }
      }
    }
  } else {  // groups of replicas, for every partition
    for (int64_t p = 0; p < partitions; ++p) {
      for (const auto& group : listed) {
        groups.emplace_back();
        for (int64_t r : group) groups.back().push_back(r * partitions + p);
      }
    }
  }
  return groups;
}

// What a device's group contributes, in group order: positions in
// devices.ids, and its own place in the group.
struct Membership {
  std::vector<int> members;
  int own = 0;
};

absl::StatusOr<Membership> MembershipOf(const Groups& groups, size_t k,
                                        const DeviceSet& devices, bool mirror) {
  const int64_t id = devices.ids[k];
  for (const auto& group : groups) {
    const auto at = std::find(group.begin(), group.end(), id);
    if (at == group.end()) continue;
    Membership m;
    m.own = static_cast<int>(at - group.begin());
    for (int64_t other : group) {
      int position = devices.Find(other);
      if (position < 0) {
        if (!mirror) {
          return absl::InvalidArgumentError(absl::StrCat(
              "device ", other, " takes part but is not evaluated here"));
        }
        position = static_cast<int>(k);
      }
      m.members.push_back(position);
    }
    return m;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no replica group holds device ", id));
}

// Operand j of every member, reduced in group order.
absl::StatusOr<Value> Reduced(OpContext& context, const Instruction& i,
                              const PerDevice& operands, const Membership& m,
                              size_t j) {
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  Value acc = operands[m.members[0]][j].Dense();
  uint8_t* to = acc.Mutable();
  for (size_t k = 1; k < m.members.size(); ++k) {
    const Value& x = operands[m.members[k]][j];
    const void* in[2] = {to, x.data()};
    const bool splat[2] = {false, x.IsSplat()};
    void* out = to;
    program->Run(in, splat, absl::MakeConstSpan(&out, 1), acc.count());
  }
  return acc;
}

// Block `index` of `count` equal ones along dimension d.
Value Block(const Value& x, int d, int64_t index, int64_t count) {
  Shape shape = x.shape();
  shape.set_dim(d, shape.dim(d) / count);
  const Value dense = x.Dense();
  const DimVector strides = RowMajorStrides(dense.shape().dims());
  Value out = Value::NewArray(shape);
  CopyBox(
      shape.dims(), out.Mutable(), RowMajorStrides(shape.dims()),
      dense.data() + index * shape.dim(d) * strides[d] * dense.element_bytes(),
      strides, dense.element_bytes());
  return out;
}

Value Joined(const std::vector<Value>& blocks, int d) {
  Shape shape = blocks[0].shape();
  int64_t size = 0;
  for (const Value& b : blocks) size += b.shape().dim(d);
  shape.set_dim(d, size);
  Value out = Value::NewArray(shape);
  uint8_t* to = out.Mutable();
  const DimVector strides = RowMajorStrides(shape.dims());
  int64_t at = 0;
  for (const Value& b : blocks) {
    const Value dense = b.Dense();
    CopyBox(dense.shape().dims(), to + at * strides[d] * b.element_bytes(),
            strides, dense.data(), RowMajorStrides(dense.shape().dims()),
            b.element_bytes());
    at += b.shape().dim(d);
  }
  return out;
}

// The results of one device: one per operand, or per group member.
absl::StatusOr<std::vector<Value>> ForDevice(OpContext& context,
                                             const Instruction& i,
                                             const PerDevice& operands,
                                             const Membership& m, size_t k) {
  const CollectiveAttrs& attrs = i.attrs<CollectiveAttrs>();
  const int d = static_cast<int>(attrs.dimension);
  const int64_t size = static_cast<int64_t>(m.members.size());
  std::vector<Value> results;
  switch (i.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      for (size_t j = 0; j < operands[k].size(); ++j) {
        ASSIGN_OR_RETURN(Value sum, Reduced(context, i, operands, m, j));
        if (i.opcode() == Opcode::kReduceScatter) {
          sum = Block(sum, d, m.own, size);
        }
        results.push_back(std::move(sum));
      }
      return results;
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      for (size_t j = 0; j < operands[k].size(); ++j) {
        std::vector<Value> blocks;
        for (int member : m.members) blocks.push_back(operands[member][j]);
        results.push_back(Joined(blocks, d));
      }
      return results;
    case Opcode::kAllToAll:
      if (d < 0) {  // tuple form: operand j goes to member j
        for (int member : m.members) {
          results.push_back(operands[member][m.own]);
        }
        return results;
      }
      {
        std::vector<Value> blocks;
        for (int member : m.members) {
          blocks.push_back(Block(operands[member][0], d, m.own, size));
        }
        results.push_back(Joined(blocks, d));
      }
      return results;
    case Opcode::kCollectiveBroadcast:
      for (size_t j = 0; j < operands[k].size(); ++j) {
        results.push_back(operands[m.members[0]][j]);
      }
      return results;
    default:
      return absl::UnimplementedError(
          absl::StrCat("no evaluation of ", OpcodeName(i.opcode())));
  }
}

absl::StatusOr<std::vector<Value>> Permute(OpContext& context,
                                           const Instruction& i,
                                           const DeviceSet& devices,
                                           const PerDevice& operands) {
  const PermuteAttrs& attrs = i.attrs<PermuteAttrs>();
  if (!attrs.slice_sizes.empty()) {
    return absl::UnimplementedError("an in-place collective-permute");
  }
  // With a channel the pairs are partitions of each replica, else replicas.
  const bool by_partition = attrs.channel_id.has_value();
  std::vector<Value> results;
  for (size_t k = 0; k < devices.ids.size(); ++k) {
    const int64_t replica = devices.ids[k] / devices.partitions;
    const int64_t partition = devices.ids[k] % devices.partitions;
    const int64_t own = by_partition ? partition : replica;
    const uint64_t zero[2] = {0, 0};
    Value result = Value::NewSplat(operands[k][0].shape(), zero);
    for (const auto& [source, target] : attrs.source_target_pairs) {
      if (target != own) continue;
      const int64_t from = by_partition
                               ? replica * devices.partitions + source
                               : source * devices.partitions + partition;
      int position = devices.Find(from);
      if (position < 0) {
        if (!context.options().mirror_missing_devices) {
          return absl::InvalidArgumentError(absl::StrCat(
              "device ", from, " takes part but is not evaluated here"));
        }
        position = static_cast<int>(k);
      }
      result = operands[position][0];
    }
    results.push_back(std::move(result));
  }
  return results;
}

// The value of a -start: the shape that the text gives it.
Value StartValue(const Instruction& i, const std::vector<Value>& operands,
                 std::vector<Value> results) {
  const Shape& shape = i.shape();
  auto group = [](const Shape& s, std::vector<Value> values) {
    return s.IsTuple() ? Value::NewTuple(s, std::move(values))
                       : values[0].WithShape(s);
  };
  const bool has_operands = i.opcode() == Opcode::kAllGatherStart ||
                            i.opcode() == Opcode::kCollectivePermuteStart;
  if (!has_operands) return group(shape, std::move(results));
  std::vector<Value> parts = {group(shape.element(0), operands),
                              group(shape.element(1), std::move(results))};
  const uint64_t zero[2] = {0, 0};
  for (int k = 2; k < shape.element_count_of_tuple(); ++k) {
    parts.push_back(Value::NewSplat(shape.element(k), zero));
  }
  return Value::NewTuple(shape, std::move(parts));
}

}  // namespace

int DeviceSet::Find(int64_t id) const {
  const auto at = std::lower_bound(ids.begin(), ids.end(), id);
  return at != ids.end() && *at == id ? static_cast<int>(at - ids.begin()) : -1;
}

absl::StatusOr<std::vector<Value>> EvalCollective(OpContext& context,
                                                  const Instruction& i,
                                                  const DeviceSet& devices,
                                                  const PerDevice& operands) {
  const bool start = i.opcode() == Opcode::kAllReduceStart ||
                     i.opcode() == Opcode::kAllGatherStart ||
                     i.opcode() == Opcode::kCollectivePermuteStart;
  PerDevice results(devices.ids.size());
  if (i.attrs_if<PermuteAttrs>() != nullptr) {
    ASSIGN_OR_RETURN(std::vector<Value> moved,
                     Permute(context, i, devices, operands));
    for (size_t k = 0; k < moved.size(); ++k) {
      results[k].push_back(std::move(moved[k]));
    }
  } else if (i.attrs_if<CollectiveAttrs>() != nullptr) {
    ASSIGN_OR_RETURN(const Groups groups, DeviceGroups(i, devices));
    for (size_t k = 0; k < devices.ids.size(); ++k) {
      ASSIGN_OR_RETURN(const Membership m,
                       MembershipOf(groups, k, devices,
                                    context.options().mirror_missing_devices));
      ASSIGN_OR_RETURN(results[k], ForDevice(context, i, operands, m, k));
    }
  } else {
    return absl::UnimplementedError(
        absl::StrCat("no evaluation of ", OpcodeName(i.opcode())));
  }
  std::vector<Value> values;
  for (size_t k = 0; k < results.size(); ++k) {
    if (start) {
      values.push_back(StartValue(i, operands[k], std::move(results[k])));
    } else if (i.shape().IsTuple()) {
      for (size_t j = 0; j < results[k].size(); ++j) {
        results[k][j] =
            results[k][j].WithShape(i.shape().element(static_cast<int>(j)));
      }
      values.push_back(Value::NewTuple(ShapeOf(i), std::move(results[k])));
    } else {
      values.push_back(results[k][0].WithShape(ShapeOf(i)));
    }
  }
  return values;
}

}  // namespace ptxla::hlo

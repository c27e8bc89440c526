#include "hlo_backend/evaluator/collectives.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/reduce.h"
#include "hlo_backend/evaluator/value_parts.h"

namespace ptxla::hlo {
namespace {

using PerDevice = std::vector<std::vector<Value>>;
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
  const int64_t size = x.shape().dim(d) / count;
  return PartAlong(x, d, index * size, (index + 1) * size);
}

Value Joined(const std::vector<Value>& blocks, int d) {
  DimVector dims = blocks[0].shape().dims();
  dims[d] = 0;
  for (const Value& b : blocks) dims[d] += b.shape().dim(d);
  Value out = Value::NewArray(Shape::Array(blocks[0].type(), dims));
  DimVector at(dims.size(), 0);
  for (const Value& b : blocks) {
    PutPart(b, at, &out);
    at[d] += b.shape().dim(d);
  }
  return out;
}

// Operands: input, output, input offsets, send sizes, output offsets, receive
// sizes. Entry e of a device's offsets and sizes is for member e / (entries per
// member): rows [input offset, + send size) of its input go to that member's
// output at the output offset, which the sender gives. Rows that nobody writes
// keep what the output operand holds.
Value RaggedAllToAll(const PerDevice& operands, const Membership& m, size_t k) {
  Value out = operands[k][1].Dense();
  const int64_t size = static_cast<int64_t>(m.members.size());
  for (int member : m.members) {
    const std::vector<Value>& from = operands[member];
    const int64_t entries = from[2].count() / size;
    const int64_t rows = from[0].shape().dim(0);
    for (int64_t e = m.own * entries; e < (m.own + 1) * entries; ++e) {
      // What lies outside is left out.
      const int64_t begin = std::max<int64_t>(0, from[2].Integer(e));
      const int64_t at = std::max<int64_t>(0, from[4].Integer(e));
      const int64_t count =
          std::min({from[3].Integer(e), rows - begin, out.shape().dim(0) - at});
      if (count <= 0) continue;
      DimVector starts(out.shape().rank(), 0);
      starts[0] = at;
      PutPart(PartAlong(from[0], 0, begin, begin + count), starts, &out);
    }
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
    case Opcode::kRaggedAllToAll:
      results.push_back(RaggedAllToAll(operands, m, k));
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

// Start indices, one tuple of scalars.
absl::StatusOr<DimVector> StartsIn(const Value& indices, int rank) {
  DimVector starts;
  if (indices.IsTuple()) {
    for (const Value& start : indices.elements()) {
      if (start.shape().IsScalar()) starts.push_back(start.Integer(0));
    }
  }
  if (static_cast<int>(starts.size()) != rank) {
    return absl::UnimplementedError(
        "an in-place collective-permute of several slices");
  }
  return starts;
}

// In place: operands (input, output, where in the input, where in the output).
// A slice of the sender's input goes into the receiver's output.
absl::StatusOr<Value> Received(const PermuteAttrs& attrs,
                               const std::vector<Value>& sender,
                               const std::vector<Value>& receiver) {
  if (attrs.slice_sizes.size() != 1 || sender.size() != 4 ||
      sender[0].IsTuple()) {
    return absl::UnimplementedError(
        "an in-place collective-permute of several slices");
  }
  const DimVector sizes(attrs.slice_sizes[0].begin(),
                        attrs.slice_sizes[0].end());
  const int rank = sender[0].shape().rank();
  ASSIGN_OR_RETURN(const DimVector from, StartsIn(sender[2], rank));
  ASSIGN_OR_RETURN(const DimVector to, StartsIn(receiver[3], rank));
  ASSIGN_OR_RETURN(const DimVector sent_to, StartsIn(sender[3], rank));
  if (to != sent_to) {
    return absl::UnimplementedError(
        "an in-place collective-permute whose ends disagree on the place");
  }
  Value out = receiver[1].Dense();
  for (int d = 0; d < rank; ++d) {
    if (from[d] < 0 || from[d] + sizes[d] > sender[0].shape().dim(d) ||
        to[d] < 0 || to[d] + sizes[d] > out.shape().dim(d)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its slice leaves dimension ", d));
    }
  }
  out.Mutable();
  PutPart(PartOf(sender[0], from, sizes), to, &out);
  return out;
}

absl::StatusOr<PerDevice> Permute(OpContext& context, const Instruction& i,
                                  const DeviceSet& devices,
                                  const PerDevice& operands) {
  const PermuteAttrs& attrs = i.attrs<PermuteAttrs>();
  const bool in_place = !attrs.slice_sizes.empty();
  // With a channel the pairs are partitions of each replica, else replicas.
  const bool by_partition = attrs.channel_id.has_value();
  PerDevice results;
  for (size_t k = 0; k < devices.ids.size(); ++k) {
    const int64_t replica = devices.ids[k] / devices.partitions;
    const int64_t partition = devices.ids[k] % devices.partitions;
    const int64_t own = by_partition ? partition : replica;
    const uint64_t zero[2] = {0, 0};
    // What nobody sends is zero; in place it stays.
    std::vector<Value> result;
    if (in_place) {
      result.push_back(operands[k][1]);
    } else {
      for (const Value& x : operands[k]) {
        result.push_back(Value::NewSplat(x.shape(), zero));
      }
    }
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
      if (in_place) {
        ASSIGN_OR_RETURN(result[0],
                         Received(attrs, operands[position], operands[k]));
      } else {
        result = operands[position];
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

// The devices that are evaluated must be as many as the text counts on: without
// replica groups an all-gather joins what there is.
absl::Status CheckShapes(const Instruction& i, const Membership& m,
                         const std::vector<Value>& results) {
  const Shape& all =
      i.opcode() == Opcode::kAllGatherStart ? i.shape().element(1) : i.shape();
  for (size_t j = 0; j < results.size(); ++j) {
    const Shape& said = all.IsTuple() ? all.element(static_cast<int>(j)) : all;
    if (results[j].shape().dims() == said.dims()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a group of ", m.members.size(), " gives ",
        results[j].shape().ToString(), ", the instruction says ",
        said.ToString(), ": evaluate it on as many devices as it is for"));
  }
  return absl::OkStatus();
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

absl::StatusOr<std::vector<Value>> EvalCollective(OpContext& context,
                                                  const Instruction& i,
                                                  const DeviceSet& devices,
                                                  const PerDevice& operands) {
  const bool start = i.opcode() == Opcode::kAllReduceStart ||
                     i.opcode() == Opcode::kAllGatherStart ||
                     i.opcode() == Opcode::kCollectivePermuteStart;
  PerDevice results(devices.ids.size());
  if (i.attrs_if<PermuteAttrs>() != nullptr) {
    ASSIGN_OR_RETURN(results, Permute(context, i, devices, operands));
  } else if (i.attrs_if<CollectiveAttrs>() != nullptr) {
    ASSIGN_OR_RETURN(const DeviceGroups groups, DeviceGroupsOf(i, devices));
    for (size_t k = 0; k < devices.ids.size(); ++k) {
      ASSIGN_OR_RETURN(const Membership m,
                       MembershipOf(groups, k, devices,
                                    context.options().mirror_missing_devices));
      ASSIGN_OR_RETURN(results[k], ForDevice(context, i, operands, m, k));
      RETURN_IF_ERROR(CheckShapes(i, m, results[k]));
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

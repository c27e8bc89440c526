#include "hlo_backend/lowering/codegen/emit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/codegen/block_writer.h"

namespace ptxla::codegen {
namespace {

absl::Status EmitNodes(absl::Span<const VNode> nodes, const Code& code,
                       BlockCache* cache, isa::Code* out, SpillUse* use) {
  for (const VNode& node : nodes) {
    if (node.kind == VNode::Kind::kBlock) {
      if (node.instrs.empty()) continue;
      if (node.mode == BlockMode::kPlaced) {
        // Long, and never met twice.
        ASSIGN_OR_RETURN(isa::Block block,
                         WritePlacedBlock(node, code, cache->model()),
                         _ << "block '" << node.label << "'");
        out->push_back(std::move(block));
        continue;
      }
      ASSIGN_OR_RETURN(const BlockCache::Entry* entry, cache->Get(node, code),
                       _ << "block '" << node.label << "'");
      use->Add(entry->spill);
      out->push_back(entry->block);
      out->back().block()->label = node.label;  // not that of its equal
      continue;
    }
    isa::Code body;
    RETURN_IF_ERROR(EmitNodes(node.body, code, cache, &body, use));
    if (body.empty()) continue;
    if (node.kind == VNode::Kind::kWhen) {
      out->push_back(isa::When{node.when_dim, node.when, std::move(body)});
      continue;
    }
    isa::Loop loop;
    loop.counter = node.counter == kNone
                       ? isa::kNoReg
                       : code.registers[node.counter].physical;
    if (node.count != kNone) {
      loop.count = code.registers[node.count].physical;
    }
    loop.trips = node.trips;
    loop.increment = node.increment;
    loop.body = std::move(body);
    out->push_back(std::move(loop));
  }
  return absl::OkStatus();
}

// The share of the steps in which the condition holds.
double ShareOf(const VNode& when, const IndexCounts& indices) {
  const double first = 1.0 / static_cast<double>(indices[when.when_dim]);
  const bool one = when.when == isa::When::Kind::kFirst ||
                   when.when == isa::When::Kind::kLast;
  return one ? first : 1 - first;
}

absl::StatusOr<double> CyclesOfNodes(absl::Span<const VNode> nodes,
                                     const Code& code, BlockCache* cache,
                                     const IndexCounts& indices,
                                     SpillUse* use) {
  double cycles = 0;
  for (const VNode& node : nodes) {
    if (node.kind == VNode::Kind::kBlock) {
      if (node.instrs.empty()) continue;
      ASSIGN_OR_RETURN(const BlockCache::Entry* entry, cache->Get(node, code));
      use->Add(entry->spill);
      cycles += static_cast<double>(entry->block.Cycles());
      continue;
    }
    ASSIGN_OR_RETURN(const double body,
                     CyclesOfNodes(node.body, code, cache, indices, use));
    if (node.kind == VNode::Kind::kLoop) {
      const double least = 1 + cache->model().branch_delay_slots;
      cycles += std::max(body, least) * static_cast<double>(node.trips);
    } else {
      cycles += body * ShareOf(node, indices);
    }
  }
  return cycles;
}

}  // namespace

absl::StatusOr<isa::Code> EmitCode(const Code& code, BlockCache* cache,
                                   SpillUse* use) {
  isa::Code out;
  SpillUse here;
  RETURN_IF_ERROR(
      EmitNodes(code.nodes, code, cache, &out, use == nullptr ? &here : use));
  return out;
}

absl::StatusOr<int64_t> CyclesOf(const Code& code, BlockCache* cache,
                                 const IndexCounts& indices, SpillUse* use) {
  SpillUse here;
  ASSIGN_OR_RETURN(const double cycles,
                   CyclesOfNodes(code.nodes, code, cache, indices,
                                 use == nullptr ? &here : use));
  return static_cast<int64_t>(std::ceil(cycles));
}

}  // namespace ptxla::codegen

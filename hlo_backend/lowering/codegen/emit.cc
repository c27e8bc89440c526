#include "hlo_backend/lowering/codegen/emit.h"

#include <algorithm>
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

absl::StatusOr<int64_t> CyclesOfNodes(absl::Span<const VNode> nodes,
                                      const Code& code, BlockCache* cache,
                                      SpillUse* use) {
  int64_t cycles = 0;
  for (const VNode& node : nodes) {
    if (node.kind == VNode::Kind::kBlock) {
      if (node.instrs.empty()) continue;
      ASSIGN_OR_RETURN(const BlockCache::Entry* entry, cache->Get(node, code));
      use->Add(entry->spill);
      cycles += entry->block.Cycles();
      continue;
    }
    ASSIGN_OR_RETURN(int64_t body, CyclesOfNodes(node.body, code, cache, use));
    if (node.kind == VNode::Kind::kLoop) {
      body = std::max<int64_t>(body, 1 + cache->model().branch_delay_slots);
      cycles += body * node.trips;
    } else {
      cycles += body;
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
                                 SpillUse* use) {
  SpillUse here;
  return CyclesOfNodes(code.nodes, code, cache, use == nullptr ? &here : use);
}

}  // namespace ptxla::codegen

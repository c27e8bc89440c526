#include "hlo_backend/lowering/peer_parts.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// Registers in one piece of code, as many as the loads' latency asks for.
constexpr int64_t kTogether = 8;

}  // namespace

PeerParts PeerParts::Add(int64_t scratch, int64_t bytes, Tiling* tiling,
                         const std::vector<int>& repeats) {
  CHECK_EQ(bytes % isa::kVregBytes, 0);
  PeerParts parts;
  parts.scratch_ = scratch;
  parts.bytes_ = bytes;
  parts.inbox_ = tiling->scratch_bytes;
  for (const int dim : repeats) {
    if (tiling->grid[dim] == 1) continue;
    parts.repeats_.push_back({dim, tiling->grid[dim]});
  }
  tiling->scratch_bytes += parts.repeats_.empty() ? bytes : 2 * bytes;
  parts.descriptor_ = static_cast<int>(tiling->descriptors.size());
  parts.semaphore_ = tiling->num_semaphores++;
  isa::DmaDescriptor d;
  d.inner_bytes = bytes;
  d.semaphore = parts.semaphore_;
  d.to_peer = true;
  tiling->descriptors.push_back(d);
  return parts;
}

void PeerParts::Send(CodeBuilder& b) const {
  b.NewBlock("send part", codegen::BlockMode::kInOrder);
  const Sca from = b.NewSca(), to = b.NewSca();
  b.ScratchAddress(from, static_cast<int32_t>(scratch_));
  AddressTo(to, b);
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  start.imm = descriptor_;
  start.a = from.id;
  start.b = to.id;
  b.Emit(start);
}

void PeerParts::Await(CodeBuilder& b) const {
  b.NewBlock("wait for part", codegen::BlockMode::kInOrder);
  codegen::VInstr wait;
  wait.op = Opcode::kDmaDoneWait;
  wait.imm = semaphore_;
  wait.imm2 = static_cast<int32_t>(2 * bytes_);  // sent, and received
  b.Emit(wait);
}

void PeerParts::AddressTo(Sca to, CodeBuilder& b) const {
  const auto first = static_cast<int32_t>(inbox_);
  if (repeats_.empty()) {
    b.ScratchAddress(to, first);
    return;
  }
  const Sca places = b.NewSca();
  b.ScratchAddress(places, first);
  // Which exchange it is: odd ones have the second place.
  Sca number;
  for (const Repeat& r : repeats_) {
    const Sca index = b.NewSca();
    b.GridIndex(index, r.dim);
    number =
        number.valid()
            ? b.SBinary(Opcode::kSadd,
                        b.SMulImm(number, static_cast<int32_t>(r.bound)), index)
            : index;
  }
  b.SBinaryTo(to, Opcode::kSadd, places,
              b.SMulImm(b.SBinaryImm(Opcode::kSand, number, 1),
                        static_cast<int32_t>(bytes_)));
}

absl::Status PeerParts::Combine(CodeBuilder& b,
                                const Operation& operation) const {
  Await(b);
  b.BeginScope();
  b.NewBlock("parts");
  const Sca mine = b.GlobalSca(), other = b.GlobalSca();
  b.ScratchAddress(mine, static_cast<int32_t>(scratch_));
  AddressTo(other, b);
  const int64_t registers = bytes_ / isa::kVregBytes;
  const auto add = [&](int64_t count) -> absl::Status {
    for (int64_t k = 0; k < count; ++k) {
      const auto at = static_cast<int32_t>(k * isa::kVregBytes);
      ASSIGN_OR_RETURN(const Vec both,
                       operation(b.Load(codegen::kReductionSpace, mine, at),
                                 b.Load(codegen::kPeerSpace, other, at)));
      b.Store(codegen::kReductionSpace, mine, at, both);
    }
    return absl::OkStatus();
  };
  if (const int64_t loops = registers / kTogether; loops > 0) {
    b.BeginLoop(loops, 1);
    b.NewBlock("add parts");
    RETURN_IF_ERROR(add(kTogether));
    for (const Sca at : {mine, other}) {
      b.SBinaryImmTo(at, Opcode::kSadd, at,
                     static_cast<int32_t>(kTogether * isa::kVregBytes));
    }
    b.EndLoop();
  }
  b.NewBlock("add parts");
  RETURN_IF_ERROR(add(registers % kTogether));
  b.EndScope();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering

#include "hlo_backend/lowering/products/stream_code.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/spill_code.h"
#include "isa/machine_model.h"

namespace ptxla::lowering::stream {
namespace {

using codegen::VInstr;
using codegen::VRegister;

// Reads nothing that the stream computes, so it may come as late as it likes.
bool IsLeaf(VInstr v, absl::Span<const VRegister> registers) {
  const int32_t* written = codegen::WrittenBy(v);
  if (written == nullptr || registers[*written].global) return false;
  if (isa::Info(v.op).unit != isa::ExecUnit::kNone) return false;
  if (isa::Info(v.op).pops != isa::Fifo::kNone) return false;
  bool reads = false;
  codegen::ForEachRead(
      v, [&](isa::RegClass, int32_t reg) { reads |= !registers[reg].global; });
  return !reads;
}

}  // namespace

int64_t Code::PlaceOpenBlock(int64_t wish, bool in_order, int64_t key) {
  const codegen::VNode block = b_.TakeBlock();
  if (!in_order && key < 0) return PlaceLate(block, wish);
  int64_t end = wish;
  for (const VInstr& v : block.instrs) {
    const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
    end = std::max(
        end, scheduler_.Place(v, in_order ? end : wish, memory ? key : -1));
  }
  return end;
}

int64_t Code::PlaceLate(const codegen::VNode& block, int64_t wish) {
  absl::flat_hash_map<int32_t, const VInstr*> waiting;  // by what they write
  int64_t end = wish;
  for (const VInstr& written : block.instrs) {
    VInstr v = written;
    codegen::ForEachRead(v, [&](isa::RegClass, int32_t reg) {
      const auto it = waiting.find(reg);
      if (it == waiting.end()) return;
      const VInstr& leaf = *it->second;
      const int64_t latency = isa::LatencyOf(codegen::Shell(leaf), b_.model());
      const int64_t at = scheduler_.OperandsReady(v) - latency;
      end = std::max(end, scheduler_.Place(leaf, std::max(wish, at)));
      waiting.erase(it);
    });
    if (IsLeaf(v, b_.registers())) {
      waiting[v.dst] = &written;
    } else {
      end = std::max(end, scheduler_.Place(v, wish));
    }
  }
  // What others read.
  for (const VInstr& v : block.instrs) {
    if (const auto it = waiting.find(v.dst);
        it != waiting.end() && it->second == &v) {
      end = std::max(end, scheduler_.Place(v, wish));
    }
  }
  return end;
}

}  // namespace ptxla::lowering::stream

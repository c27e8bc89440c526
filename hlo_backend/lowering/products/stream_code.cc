#include "hlo_backend/lowering/products/stream_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <numeric>
#include <vector>

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

// For a push of the EUP the number of its pop, for the pop that of its push,
// for every other instruction its own. Most blocks have no push.
std::vector<size_t> Partners(absl::Span<const VInstr> instrs) {
  std::vector<size_t> partners(instrs.size());
  std::iota(partners.begin(), partners.end(), 0);
  if (std::none_of(instrs.begin(), instrs.end(), [](const VInstr& v) {
        return isa::Info(v.op).pushes == isa::Fifo::kEup;
      })) {
    return partners;
  }
  std::array<std::deque<size_t>, isa::kMaxUnits> pushes;
  for (size_t n = 0; n < instrs.size(); ++n) {
    const isa::InstrInfo& info = isa::Info(instrs[n].op);
    std::deque<size_t>& waiting = pushes[instrs[n].unit];
    if (info.pushes == isa::Fifo::kEup) waiting.push_back(n);
    if (info.pops != isa::Fifo::kEup || waiting.empty()) continue;
    partners[n] = waiting.front();
    partners[waiting.front()] = n;
    waiting.pop_front();
  }
  return partners;
}

}  // namespace

int64_t Code::KeyOf(const VInstr& v, int64_t key) const {
  if (!isa::IsVectorLoad(v.op) && !isa::IsVectorStore(v.op)) return -1;
  return ordered_space_ >= 0 && v.space == ordered_space_ ? kOrderedKeys + v.imm
                                                          : key;
}

int64_t Code::PlaceOpenBlock(int64_t wish, bool in_order, int64_t key) {
  codegen::VNode block = b_.TakeBlock();
  if (in_order) order_.Apply(&block);
  const bool late = !in_order && key < 0;
  const std::vector<size_t> partners = Partners(block.instrs);
  absl::flat_hash_map<int32_t, const VInstr*> waiting;  // by what they write
  int64_t end = wish;  // the latest issue, pops of pairs aside
  int64_t popped = wish;
  for (size_t n = 0; n < block.instrs.size(); ++n) {
    VInstr& v = block.instrs[n];
    if (partners[n] < n) continue;  // placed with its push
    codegen::ForEachRead(v, [&](isa::RegClass, int32_t reg) {
      const auto it = waiting.find(reg);
      if (it == waiting.end()) return;
      const VInstr& leaf = *it->second;
      const int64_t latency = isa::LatencyOf(codegen::Shell(leaf), b_.model());
      const int64_t at = scheduler_.OperandsReady(v) - latency;
      end = std::max(
          end, scheduler_.Place(leaf, std::max(wish, at), KeyOf(leaf, -1)));
      waiting.erase(it);
    });
    const int64_t from = in_order ? end : wish;
    if (late && IsLeaf(v, b_.registers())) {
      waiting[v.dst] = &block.instrs[n];
    } else if (partners[n] > n) {
      const VInstr& pop = block.instrs[partners[n]];
      const codegen::FifoPairs::Pair pair = scheduler_.PlacePair(v, pop, from);
      end = std::max(end, pair.push);
      popped = std::max(popped, pair.pop);
    } else {
      end = std::max(end, scheduler_.Place(v, from, KeyOf(v, key)));
    }
  }
  // What others read.
  for (const VInstr& v : block.instrs) {
    if (const auto it = waiting.find(v.dst);
        it != waiting.end() && it->second == &v) {
      end = std::max(end, scheduler_.Place(v, wish));
    }
  }
  return std::max(end, popped);
}

}  // namespace ptxla::lowering::stream

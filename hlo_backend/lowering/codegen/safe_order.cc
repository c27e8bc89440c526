#include "hlo_backend/lowering/codegen/safe_order.h"

#include <algorithm>

namespace ptxla::codegen {
namespace {

constexpr int kVector = static_cast<int>(isa::RegClass::kVector);

}  // namespace

bool KeepsRegisters(const Node& node) {
  if (node.fifo < 0) return false;
  const auto fifo = static_cast<isa::Fifo>(node.fifo / isa::kMaxUnits);
  return fifo != isa::Fifo::kVectorToScalar && fifo != isa::Fifo::kTranspose;
}

SafeOrder::SafeOrder(absl::Span<const VInstr> instrs,
                     absl::Span<const VRegister> registers,
                     const LocalReads& reads, const Graph& graph, int limit)
    : instrs_(instrs),
      graph_(graph),
      locals_(registers),
      first_(reads.range.first),
      limit_(limit),
      reads_(reads.count),
      last_read_(reads.count.size(), -1),
      live_(static_cast<int>(instrs.size())),
      issued_(instrs.size(), false),
      refused_(static_cast<int>(instrs.size())) {
  CountWritten();
}

int SafeOrder::ValuesOf(int i) const {
  const Node& node = graph_.nodes[i];
  if (KeepsRegisters(node)) return node.is_pop ? 0 : node.results;
  const VInstr& v = instrs_[i];
  return locals_.Writes(v) && locals_.ClassOf(v.dst) == kVector &&
         reads_[v.dst - first_] > 0;
}

void SafeOrder::CountWritten() {
  const int n = static_cast<int>(instrs_.size());
  for (int i = 0; i < n; ++i) {
    live_.Add(i, n, ValuesOf(i));
    locals_.ForEachRead(instrs_[i], [&](int32_t reg) {
      if (locals_.ClassOf(reg) == kVector) last_read_[reg - first_] = i;
    });
  }
  for (const int last : last_read_) {
    if (last >= 0) live_.Add(last, n, -1);
  }
}

void SafeOrder::FindDying(int i) {
  dying_.clear();
  int32_t seen[5];
  int n = 0;
  locals_.ForEachRead(instrs_[i], [&](int32_t reg) {
    seen[n++] = reg;
    const int uses = static_cast<int>(std::count(seen, seen + n, reg));
    if (reads_[reg - first_] == uses && locals_.ClassOf(reg) == kVector) {
      dying_.push_back(reg - first_);
    }
  });
}

bool SafeOrder::Allows(int i) {
  const int values = ValuesOf(i);
  if (i == turn_ || values == 0) return true;
  FindDying(i);
  if (dying_.empty() && i >= refused_) return false;
  for (const int32_t reg : dying_) live_.Add(turn_, last_read_[reg], -1);
  const bool fits = live_.Max(turn_, i) + values <= limit_;
  for (const int32_t reg : dying_) live_.Add(turn_, last_read_[reg], 1);
  if (!fits && dying_.empty()) refused_ = i;
  return fits;
}

void SafeOrder::Issue(int i) {
  FindDying(i);
  live_.Add(turn_, i, ValuesOf(i));
  for (const int32_t reg : dying_) live_.Add(turn_, last_read_[reg], -1);
  locals_.ForEachRead(instrs_[i], [&](int32_t reg) { --reads_[reg - first_]; });
  issued_[i] = true;
  const int n = static_cast<int>(instrs_.size());
  while (turn_ < n && issued_[turn_]) ++turn_;
  refused_ = n;
}

}  // namespace ptxla::codegen

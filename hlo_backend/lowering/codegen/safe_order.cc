#include "hlo_backend/lowering/codegen/safe_order.h"

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
      values_(instrs.size(), 0),
      reads_(reads.count),
      last_read_(reads.count.size(), -1),
      live_(static_cast<int>(instrs.size())),
      issued_(instrs.size(), false),
      refused_(static_cast<int>(instrs.size())) {
  CountValues();
  CountWritten();
}

// What nobody reads is free again as it lands.
void SafeOrder::CountValues() {
  const auto is_read = [&](int i) {
    const VInstr& v = instrs_[i];
    return locals_.Writes(v) && locals_.ClassOf(v.dst) == kVector &&
           reads_[v.dst - first_] > 0;
  };
  for (size_t i = 0; i < instrs_.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (!KeepsRegisters(node)) {
      values_[i] = is_read(static_cast<int>(i)) ? 1 : 0;
      continue;
    }
    for (int r = 0; r < node.results && !node.is_pop; ++r) {
      values_[i] += is_read(graph_.pops[node.first_pop + r]) ? 1 : 0;
    }
  }
}

void SafeOrder::Add(int from, int to, int registers) {
  if (from < to) live_.Add(from, to - 1, registers);
}

void SafeOrder::CountWritten() {
  const int n = static_cast<int>(instrs_.size());
  for (int i = 0; i < n; ++i) {
    Add(i, n, values_[i]);
    locals_.ForEachRead(instrs_[i], [&](int32_t reg) {
      if (locals_.ClassOf(reg) == kVector) last_read_[reg - first_] = i;
    });
  }
  for (const int last : last_read_) {
    if (last >= 0) Add(last, n, -1);
  }
}

void SafeOrder::FindDying(int i) {
  dying_.clear();
  ForEachLastRead(locals_, instrs_[i], first_, reads_, [&](int32_t reg) {
    if (locals_.ClassOf(reg) == kVector) dying_.push_back(reg - first_);
  });
}

bool SafeOrder::Allows(int i) {
  const int values = values_[i];
  if (i == turn_ || values == 0) return true;
  FindDying(i);
  if (dying_.empty() && i >= refused_) return false;
  for (const int32_t reg : dying_) Add(turn_, last_read_[reg], -1);
  const bool fits = live_.Maximum(turn_, i - 1) + values <= limit_;
  for (const int32_t reg : dying_) Add(turn_, last_read_[reg], 1);
  if (!fits && dying_.empty()) refused_ = i;
  return fits;
}

void SafeOrder::Issue(int i) {
  FindDying(i);
  Add(turn_, i, values_[i]);
  for (const int32_t reg : dying_) Add(turn_, last_read_[reg], -1);
  locals_.ForEachRead(instrs_[i], [&](int32_t reg) { --reads_[reg - first_]; });
  issued_[i] = true;
  const int n = static_cast<int>(instrs_.size());
  while (turn_ < n && issued_[turn_]) ++turn_;
  refused_ = n;
}

}  // namespace ptxla::codegen

#include "hlo_backend/analysis/liveness.h"

#include <algorithm>

#include "base/check.h"

namespace ptxla::hlo {
namespace {

// Number of the leaf at `index`; its subtree has `count` leaves.
int LeafNumber(const Shape& shape, absl::Span<const int64_t> index,
               int* count = nullptr) {
  const Shape* s = &shape;
  int64_t number = 0;
  for (int64_t i : index) {
    for (int64_t k = 0; k < i; ++k) {
      number += s->element(static_cast<int>(k)).LeafCount();
    }
    s = &s->element(static_cast<int>(i));
  }
  if (count != nullptr) *count = static_cast<int>(s->LeafCount());
  return static_cast<int>(number);
}

// Results that are the buffers of operand 0, leaf by leaf.
bool ForwardsOperand(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kBitcast:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

}  // namespace

Liveness::Liveness(const Computation& computation,
                   absl::Span<Instruction* const> order) {
  const int last = static_cast<int>(order.size());
  positions_.reserve(order.size());
  for (int n = 0; n < last; ++n) positions_[order[n]] = n;
  leaves_.reserve(order.size());

  for (int n = 0; n < last; ++n) {
    const Instruction* i = order[n];
    // Reading a value keeps it alive until here. Pointers to it (tuples,
    // bitcasts) do not read it.
    const Opcode op = i->opcode();
    const bool is_alias = op == Opcode::kTuple ||
                          op == Opcode::kGetTupleElement ||
                          op == Opcode::kBitcast;
    if (!is_alias) {
      for (const Instruction* o : i->operands()) {
        for (int range : leaves_.at(o)) {
          ranges_[range].end = std::max(ranges_[range].end, n);
        }
      }
    }
    std::vector<int>& mine = leaves_[i];
    if (op == Opcode::kTuple) {
      for (const Instruction* o : i->operands()) {
        const std::vector<int>& theirs = leaves_.at(o);
        mine.insert(mine.end(), theirs.begin(), theirs.end());
      }
      continue;
    }
    if (op == Opcode::kGetTupleElement) {
      const std::vector<int>& theirs = leaves_.at(i->operand(0));
      int count;
      const int first =
          LeafNumber(i->operand(0)->shape(), {i->tuple_index()}, &count);
      mine.assign(theirs.begin() + first, theirs.begin() + first + count);
      continue;
    }
    if (ForwardsOperand(op)) {
      const std::vector<int>& theirs = leaves_.at(i->operand(0));
      if (static_cast<int64_t>(theirs.size()) == i->shape().LeafCount()) {
        mine = theirs;
        continue;
      }
    }
    // A new range for every leaf, unless it is written into an operand.
    std::vector<int> reused(i->shape().LeafCount(), -1);
    auto reuse = [&](int leaf, int range) {
      const bool ends_here = ranges_[range].end <= n;
      if (ends_here && !ranges_[range].is_constant) reused[leaf] = range;
    };
    if (op == Opcode::kDynamicUpdateSlice || op == Opcode::kScatter) {
      const int count = op == Opcode::kScatter ? i->operand_count() / 2 : 1;
      for (int k = 0; k < count; ++k) {
        const Instruction* o = i->operand(k);
        const bool last_use = std::all_of(
            o->users().begin(), o->users().end(), [&](const Instruction* u) {
              auto it = positions_.find(u);
              return it == positions_.end() || it->second <= n;
            });
        if (last_use && !o->IsRoot() && o->opcode() != Opcode::kParameter) {
          reuse(k, leaves_.at(o)[0]);
        }
      }
    }
    const auto* fusion = i->attrs_if<FusionAttrs>();
    const auto* custom = i->attrs_if<CustomCallAttrs>();
    if (fusion != nullptr || custom != nullptr) {
      for (const OutputOperandAlias& a :
           fusion != nullptr ? fusion->aliasing : custom->aliasing) {
        const Instruction* o = i->operand(static_cast<int>(a.operand));
        reuse(LeafNumber(i->shape(), a.output),
              leaves_.at(o)[LeafNumber(o->shape(), a.operand_index)]);
      }
    }
    // The end of an async pair hands on what its start made.
    if (IsAsyncDone(op) && i->operand(0)->shape().IsTuple()) {
      const std::vector<int>& theirs = leaves_.at(i->operand(0));
      const int element = op == Opcode::kCopyDone ? 0 : 1;
      const Shape& start = i->operand(0)->shape();
      if (element < start.element_count_of_tuple() &&
          start.element(element).LeafCount() == i->shape().LeafCount()) {
        const int first = LeafNumber(start, {element});
        for (size_t k = 0; k < reused.size(); ++k) {
          reused[k] = theirs[first + static_cast<int>(k)];
        }
      }
    }
    // The start's tuple names its operand, which lives until the done.
    if (op == Opcode::kCopyStart && i->shape().element_count_of_tuple() > 1 &&
        i->operand(0)->shape().IsArray()) {
      reused[LeafNumber(i->shape(), {1})] = leaves_.at(i->operand(0))[0];
    }
    int leaf = 0;
    ForEachLeaf(i->shape(), [&](const Shape&, const ShapeIndex& index) {
      if (reused[leaf] >= 0) {
        mine.push_back(reused[leaf]);
        ranges_[reused[leaf]].end = std::max(ranges_[reused[leaf]].end, n);
      } else {
        LiveRange range;
        range.value = i;
        range.index = index;
        range.is_parameter = op == Opcode::kParameter;
        range.is_constant = op == Opcode::kConstant;
        range.start = range.is_parameter ? -1 : n;
        range.end = n;
        mine.push_back(static_cast<int>(ranges_.size()));
        ranges_.push_back(std::move(range));
      }
      ++leaf;
    });
  }
  if (computation.root() != nullptr) {
    for (int range : leaves_.at(computation.root())) {
      ranges_[range].end = last;
      ranges_[range].is_live_out = true;
    }
  }
}

int Liveness::position(const Instruction* instruction) const {
  return positions_.at(instruction);
}

int Liveness::RangeOf(const Instruction* instruction,
                      absl::Span<const int64_t> index) const {
  return leaves_.at(instruction)[LeafNumber(instruction->shape(), index)];
}

int64_t Liveness::PeakBytes() const {
  // Bytes that come and go at each position; -1 is position 0 here.
  std::vector<int64_t> change;
  for (const LiveRange& r : ranges_) {
    if (!r.shape().IsArray()) continue;
    const size_t need = static_cast<size_t>(r.end) + 3;
    if (change.size() < need) change.resize(need, 0);
    change[r.start + 1] += r.shape().ByteSize();
    change[r.end + 2] -= r.shape().ByteSize();
  }
  int64_t now = 0, peak = 0;
  for (int64_t c : change) {
    now += c;
    peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace ptxla::hlo

#include "hlo_backend/passes/fusion/second_pass.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace ptxla::hlo {
namespace {

using Arrays = absl::Span<const Instruction* const>;
using Set = absl::flat_hash_set<const Instruction*>;

// Behind a value so much is looked at: more belongs to other kernels.
constexpr size_t kMostBehind = 48;
// Instructions between an array and what is made of it, at most.
constexpr int kSteps = 6;

bool IsOfSize(const Instruction& i, const Instruction& value) {
  return i.shape().IsArray() && i.shape().SameDims(value.shape());
}

bool IsSum(const FusionNodes& nodes, const Instruction& i,
           const Instruction& value) {
  return nodes.of(&i).role == FusionRole::kReduce &&
         IsOfSize(*i.operand(0), value);
}

bool SameDimensions(const Instruction& a, const Instruction& b) {
  return std::equal(a.dimensions().begin(), a.dimensions().end(),
                    b.dimensions().begin(), b.dimensions().end());
}

// Is it made of `arrays` and of what is free, one step after another?
bool IsMadeOf(const FusionNodes& nodes, const Instruction& i, Arrays arrays,
              int steps) {
  if (absl::c_linear_search(arrays, &i)) return true;
  const FusionRole role = nodes.of(&i).role;
  if (role == FusionRole::kFree) return true;
  return role == FusionRole::kElementwise && steps > 0 &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return IsMadeOf(nodes, *o, arrays, steps - 1);
                     });
}

// What is made of `start`, itself first: up to products and stored values, to
// work that reads an array beside `arrays`, which is not done again, and to
// `end`. `whole`: all of it.
std::vector<const Instruction*> Behind(const FusionNodes& nodes,
                                       const Instruction* start, Arrays arrays,
                                       const Instruction* end, bool* whole) {
  std::vector<const Instruction*> open = {start};
  Set seen = {start};
  const auto reads_more = [&](const Instruction* i) {
    return std::any_of(i->operands().begin(), i->operands().end(),
                       [&](const Instruction* o) {
                         return IsOfSize(*o, *start) && !seen.contains(o) &&
                                !IsMadeOf(nodes, *o, arrays, kSteps);
                       });
  };
  *whole = true;
  for (size_t next = 0; next < open.size(); ++next) {
    const Instruction* i = open[next];
    if (i != start && IsOfSize(*i, *start) && reads_more(i)) continue;
    for (const Instruction* u : i->users()) {
      const FusionRole role = nodes.of(u).role;
      if (role == FusionRole::kStored || role == FusionRole::kDot || u == end ||
          !seen.insert(u).second) {
        continue;
      }
      if (open.size() == kMostBehind) {
        *whole = false;
        return open;
      }
      open.push_back(u);
    }
  }
  return open;
}

// Sums of arrays of its size that stand between a value and what is made of it.
class Depths {
 public:
  Depths(const FusionNodes& nodes, const Instruction& value, const Set& behind)
      : nodes_(nodes), value_(value), behind_(behind) {}

  int Of(const Instruction* i) {
    if (i == &value_) return 0;
    const auto known = depths_.find(i);
    if (known != depths_.end()) return known->second;
    int depth = 0;
    for (const Instruction* o : i->operands()) {
      if (!behind_.contains(o)) continue;
      depth = std::max(depth, Of(o) + (IsSum(nodes_, *o, value_) ? 1 : 0));
    }
    return depths_[i] = depth;
  }

 private:
  const FusionNodes& nodes_;
  const Instruction& value_;
  const Set& behind_;
  absl::flat_hash_map<const Instruction*, int> depths_;
};

// One of the sums of the first of two kernels; null: there are not two.
const Instruction* SumsOfFirst(const FusionNodes& nodes,
                               const Instruction& value,
                               const std::vector<const Instruction*>& behind,
                               const Set& set) {
  Depths depths(nodes, value, set);
  const Instruction* sums = nullptr;
  bool second = false;
  for (const Instruction* i : behind) {
    if (IsOfSize(*i, value) && nodes.of(i).role == FusionRole::kElementwise) {
      if (depths.Of(i) > 1) return nullptr;
      second |= depths.Of(i) == 1;
    } else if (IsSum(nodes, *i, value) && depths.Of(i) == 0) {
      if (sums != nullptr && !SameDimensions(*sums, *i)) return nullptr;
      sums = i;
    }
  }
  return second ? sums : nullptr;
}

}  // namespace

bool MeetsOtherSums(const FusionNodes& nodes, const Instruction& value,
                    Arrays arrays) {
  bool whole;
  const auto behind = Behind(nodes, &value, arrays, nullptr, &whole);
  if (!whole) return false;
  const Set set(behind.begin(), behind.end());
  const Instruction* sums = SumsOfFirst(nodes, value, behind, set);
  if (sums == nullptr) return false;
  const auto is_waited_for = [&](const Instruction* sum) {
    bool all;
    const auto made = Behind(nodes, sum, {}, nullptr, &all);
    return !all || std::any_of(made.begin(), made.end(),
                               [&](auto* i) { return set.contains(i); });
  };
  for (const Instruction* array : arrays) {
    bool all;
    for (const Instruction* i : Behind(nodes, array, arrays, &value, &all)) {
      if (IsSum(nodes, *i, value) && !set.contains(i) &&
          !SameDimensions(*i, *sums) && !is_waited_for(i)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace ptxla::hlo

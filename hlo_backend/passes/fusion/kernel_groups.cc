#include "hlo_backend/passes/fusion/kernel_groups.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::hlo {
namespace {

// Kernels of more members are hard to schedule and gain little.
constexpr int kMostGroupMembers = 256;
// Kernels that share an input join only when they are this near: what the
// earlier one makes lives longer by it, and so does what a product reads that
// waits for another's result.
constexpr int kSiblingLevels = 12;

bool Meet(const absl::btree_set<int>& a, const absl::btree_set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int k) { return b.contains(k); });
}

}  // namespace

int KernelGroups::Add(const Instruction* i,
                      absl::Span<const FusionGroups::Dependence> dependences,
                      GroupKernel kernel) {
  const int g = groups_.Add(dependences);
  kernels_.push_back(std::move(kernel));
  group_of_[i] = g;
  return g;
}

int KernelGroups::Of(const Instruction* i) const {
  const auto it = group_of_.find(i);
  return it == group_of_.end() ? -1 : Find(it->second);
}

bool KernelGroups::Compatible(int a, int b) const {
  const GroupKernel &x = kernels_[a], &y = kernels_[b];
  if (!x.fusible || !y.fusible || x.dims != y.dims) return false;
  if (x.members + y.members > kMostGroupMembers) return false;
  // Rows and columns could not be one kernel any more.
  if (Meet(x.waits_for, y.read_by) || Meet(y.waits_for, x.read_by)) {
    return false;
  }
  if (x.dot && y.dot) return false;
  if ((x.dot && !Follows(y, x)) || (y.dot && !Follows(x, y))) return false;
  if ((x.convolution && y.bytes) || (y.convolution && x.bytes)) return false;
  if (x.dot && y.reduce && !ReducesAll(x, y)) return false;
  if (x.reduce && y.dot && !ReducesAll(y, x)) return false;
  return !x.reduce || !y.reduce || ReduceTogether(x, y);
}

bool KernelGroups::ReduceTogether(const GroupKernel& x,
                                  const GroupKernel& y) const {
  const auto is_both = [](const GroupKernel& k) {
    return k.of_rows && k.of_columns;
  };
  if (!is_both(x) && !is_both(y) && x.reduced == y.reduced) return true;
  return !x.of_others && !y.of_others;
}

bool KernelGroups::AreNear(int a, int b) const {
  const int apart = level(a) - level(b);
  return std::abs(apart) <= kSiblingLevels ||
         kernel(apart < 0 ? a : b).may_wait;
}

bool KernelGroups::AreAcross(int a, int b) const {
  const GroupKernel &x = kernel(a), &y = kernel(b);
  const auto is_both = [](const GroupKernel& k) {
    return k.of_rows && k.of_columns;
  };
  return x.reduce && y.reduce && x.reduced != y.reduced && !is_both(x) &&
         !is_both(y);
}

bool KernelGroups::Join(int a, int b) {
  a = groups_.Find(a);
  b = groups_.Find(b);
  if (a == b) return true;
  if (!Compatible(a, b) || !groups_.Merge(a, b)) return false;
  const int g = groups_.Find(a);
  GroupKernel& to = kernels_[g];
  const GroupKernel& from = kernels_[g == a ? b : a];
  to.dot |= from.dot;
  if (to.product == nullptr) to.product = from.product;
  to.convolution |= from.convolution;
  to.bytes |= from.bytes;
  to.features_in_rows |= from.features_in_rows;
  to.epilogue &= from.epilogue;
  to.feature_epilogue &= from.feature_epilogue;
  to.may_wait &= from.may_wait;
  to.waits_for.insert(from.waits_for.begin(), from.waits_for.end());
  to.read_by.insert(from.read_by.begin(), from.read_by.end());
  if (from.reduce) {
    to.of_rows |= from.of_rows;
    to.of_columns |= from.of_columns;
    to.of_others |= from.of_others;
    // No product makes sums of rows.
    const bool both = to.of_rows && to.of_columns;
    to.stored_reduce = both || (to.reduce && to.stored_reduce == nullptr)
                           ? nullptr
                           : from.stored_reduce;
    to.reduce = true;
    to.reduced = from.reduced;
  }
  to.members += from.members;
  return true;
}

}  // namespace ptxla::hlo

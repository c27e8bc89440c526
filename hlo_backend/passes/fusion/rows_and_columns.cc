#include "hlo_backend/passes/fusion/rows_and_columns.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo_backend/analysis/fusible_reduces.h"

namespace ptxla::hlo {
namespace {

// Instructions between a reduce and its arrays, and pairs of one reduce, so
// many are looked at. ASSUMED.
constexpr size_t kMostWork = 32;
constexpr size_t kMostPairs = 8;

// A column's sums take a register of scratch for each 128, which is filled
// before and folded behind: a few rows do not pay for that (16 rows of 65,536
// on v6e take 1.4 times as long as two kernels, 64 of 100,000 on v5e 0.75
// times), and of more columns no windows have room beside them. ASSUMED.
constexpr int64_t kLeastRows = 64, kMostColumns = int64_t{1} << 18;

bool PaysBesideRows(const Instruction& reduce) {
  const Shape& shape = reduce.operand(0)->shape();
  const int64_t columns = shape.dims().back();
  return IsReduceOfColumns(reduce) && columns <= kMostColumns &&
         shape.ElementCount() >= kLeastRows * columns;
}

// Over the same dimensions, or the first of rows and the other of columns.
bool MayPair(const Instruction& first, const Instruction& later) {
  if (&first == &later ||
      !first.operand(0)->shape().SameDims(later.operand(0)->shape())) {
    return false;
  }
  return first.dimensions() == later.dimensions() ||
         (IsOverLastDimension(first) && PaysBesideRows(later));
}

}  // namespace

RowsAndColumns::Sum RowsAndColumns::SumOf(const Instruction* reduce) const {
  Sum sum = {reduce, {}, {}};
  std::vector<const Instruction*> work;
  const auto add = [&](FusedInputs::Read read) {
    const FusionNode& node = chains_.node(read.value);
    // What others read, too, is stored for them.
    if (node.role != FusionRole::kElementwise ||
        (node.placed && read.value->user_count() > 1)) {
      if (!absl::c_linear_search(sum.arrays, read)) sum.arrays.push_back(read);
    } else if (!absl::c_linear_search(work, read.value)) {
      work.push_back(read.value);
    }
  };
  const Instruction* summed = reduce->operand(0);
  add({summed, summed->shape().type()});
  for (size_t k = 0; k < work.size() && k < kMostWork; ++k) {
    for (const FusedInputs::Read& read : inputs_.Reads(work[k])) add(read);
    for (const Instruction* leaf : chains_.node(work[k]).small) {
      if (!absl::c_linear_search(sum.small, leaf)) sum.small.push_back(leaf);
    }
  }
  return sum;
}

RowsAndColumns::RowsAndColumns(absl::Span<Instruction* const> order,
                               const FusionChains& chains,
                               const FusedInputs& inputs)
    : chains_(chains), inputs_(inputs) {
  std::vector<Sum> sums;
  for (const Instruction* i : order) {
    if (chains.node(i).role != FusionRole::kReduce) continue;
    Sum sum = SumOf(i);
    if (sum.arrays.size() >= 2) sums.push_back(std::move(sum));
  }
  for (const Sum& later : sums) {
    size_t found = 0;
    // The nearest first.
    for (size_t k = sums.size(); k-- > 0 && found < kMostPairs;) {
      const Sum& first = sums[k];
      if (!MayPair(*first.reduce, *later.reduce)) continue;
      const auto shared =
          std::count_if(later.arrays.begin(), later.arrays.end(),
                        [&](const FusedInputs::Read& a) {
                          return absl::c_linear_search(first.arrays, a);
                        });
      if (shared < 2) continue;
      const int number = static_cast<int>(pairs_.size());
      pairs_.push_back({first.reduce, later.reduce});
      first_of_[first.reduce].push_back(number);
      for (const Instruction* leaf : later.small) {
        read_by_[leaf].push_back(number);
      }
      ++found;
    }
  }
}

void RowsAndColumns::DescribeReduce(const Instruction& reduce,
                                    GroupKernel* kernel) const {
  const bool position = inputs_.ExtremumOf(&reduce) != nullptr;
  kernel->of_rows = IsOverLastDimension(reduce) && !position;
  kernel->of_columns = PaysBesideRows(reduce) && !position;
  kernel->of_others = !kernel->of_rows && !kernel->of_columns;
}

void RowsAndColumns::DescribeOrder(const Instruction& i,
                                   GroupKernel* kernel) const {
  if (pairs_.empty()) return;
  inputs_.ForEach(&i, [&](const Instruction* value, bool) {
    const auto found = first_of_.find(value);
    if (found == first_of_.end()) return;
    kernel->waits_for.insert(found->second.begin(), found->second.end());
  });
  const auto found = read_by_.find(&i);
  if (found == read_by_.end()) return;
  kernel->read_by.insert(found->second.begin(), found->second.end());
}

void RowsAndColumns::Join(KernelGroups* groups) const {
  for (const auto& [first, later] : pairs_) {
    const int a = groups->Of(first), b = groups->Of(later);
    if (a < 0 || b < 0 || groups->kernel(a).dot || groups->kernel(b).dot) {
      continue;
    }
    // A product that makes what is summed adds its columns up itself.
    const int made = groups->Of(later->operand(0));
    if (made >= 0 && groups->kernel(made).dot) continue;
    if (groups->AreNear(a, b)) groups->Join(a, b);
  }
}

}  // namespace ptxla::hlo

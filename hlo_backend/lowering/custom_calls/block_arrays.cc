#include "hlo_backend/lowering/custom_calls/block_arrays.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/lowering/custom_calls/block_operations.h"

namespace ptxla::lowering {
namespace {

using mosaic::Attribute;
using mosaic::Operation;
using mosaic::Type;

// Whether the rhs is multiplied along its last dimension: what Mosaic prints
// begins `#tpu.dot_dimension_numbers<[lhs dimension], [rhs dimension], `.
bool AlongLast(absl::string_view numbers, const Type& rhs) {
  const std::vector<absl::string_view> lists = absl::StrSplit(numbers, '[');
  int64_t dimension = 0;
  return lists.size() > 2 &&
         absl::SimpleAtoi(lists[2].substr(0, lists[2].find(']')), &dimension) &&
         dimension + 1 == static_cast<int64_t>(rhs.dims.size()) &&
         dimension > 0;
}

}  // namespace

int64_t BlockSchedule::ProductPlan::PushesOf(int64_t depth_index,
                                             int64_t tile) const {
  const ArrayShape& a = numbers.arrays;
  const int64_t n = std::min<int64_t>(columns - tile * a.size, a.size);
  const int64_t k = std::min<int64_t>(depth - depth_index * a.size, a.size);
  const int64_t down = transposed ? n : k, across = transposed ? k : n;
  const int64_t halves = std::max<int64_t>(1, a.size / hlo::kLanes);
  const int64_t registers = CeilOfRatio<int64_t>(down, a.push_rows) *
                            CeilOfRatio<int64_t>(across, hlo::kLanes);
  return std::max(
      CeilOfRatio<int64_t>(registers, halves),
      CeilOfRatio<int64_t>(std::min(down, hlo::kLanes), a.push_rows));
}

BlockSchedule::ProductPlan BlockSchedule::PlanOf(const Operation& op) const {
  const Type &lhs = TypeOf(op.operands[0]), &rhs = TypeOf(op.operands[1]);
  const Type& out = TypeOf(op.results[0]);
  ProductPlan p;
  p.columns = out.dims.empty() ? 1 : std::max<int64_t>(1, out.dims.back());
  p.rows = std::max<int64_t>(1, out.Elements() / p.columns);
  p.depth = std::max<int64_t>(1, lhs.Elements() / p.rows);
  if (const Attribute* numbers = op.Find("dimension_numbers")) {
    p.transposed = AlongLast(numbers->text, rhs);
  }
  if (const Attribute* flag = op.Find("transpose_rhs")) {
    p.transposed = p.transposed || flag->integer != 0;
  }
  // f32 operands at a precision above the default pass as often as those of
  // XLA's products at its highest precision: three bf16 parts a side, of whose
  // nine products the six larger ones. Taken over from there, not measured.
  if (const Attribute* precision = op.Find("precision")) {
    if (absl::StrContains(precision->text, "fp32")) p.passes = 6;
  }
  if (rhs.dims.size() > 2) {
    p.batch = std::max<int64_t>(1, rhs.Elements() / (p.depth * p.columns));
    p.rows = CeilOfRatio<int64_t>(p.rows, p.batch);
  }
  p.numbers = NumbersOfBlock(model_, lhs, rhs, out, p.transposed);
  const ArrayShape& a = p.numbers.arrays;
  p.chunks = CeilOfRatio<int64_t>(p.rows, a.rows);
  p.depths = CeilOfRatio<int64_t>(p.depth, a.size);
  p.tiles = CeilOfRatio<int64_t>(p.columns, a.size);
  p.copies = std::max<int64_t>(
      1, std::min<int64_t>(p.chunks, static_cast<int64_t>(arrays_.size()) /
                                         std::max<int64_t>(1, tiles_)));
  // What goes to a sum that the kernel keeps stays apart where the results
  // fill half the array: libtpu 0.0.42.1, forward and backward attention with
  // heads of 64, 128 and 256.
  p.chained = rules_.sums_in_arrays && p.passes == 1 && p.depths > 1 &&
              (p.columns > hlo::kLanes || !IsAddedToASum(op.results[0]));
  return p;
}

// sum + product; product + sum is another matter to the TPU compiler.
bool BlockSchedule::IsAddedToASum(int value) const {
  return OnlyReadBy(value, [value](const Operation& op) {
    return (op.name == "arith.addf" || op.name == "arith.addi") &&
           op.operands.size() == 2 && op.operands[1] == value;
  });
}

// Each job goes to the array that has the least to do, a chain as a whole.
// Where there are fewer tiles in the piece than arrays, several share the rows
// of one. In a piece where arrays sum, the last chain chooses first: so libtpu
// 0.0.42.1 has attention's scores on one array and what they weigh on the
// other.
void BlockSchedule::ChooseArrays() {
  std::vector<const Operation*> products;
  for (const Operation* op : operations_) {
    if (IsProduct(op->name)) products.push_back(op);
  }
  tiles_ = 0;
  for (const Operation* op : products) {
    const ProductPlan p = PlanOf(*op);
    tiles_ += p.tiles * p.depths * p.Runs();
  }
  struct Chain {
    int64_t cycles = 0;
    std::vector<size_t*> jobs;
  };
  std::vector<Chain> chains;
  bool sums = false;
  for (const Operation* op : products) {
    const ProductPlan p = PlanOf(*op);
    sums = sums || p.chained;
    std::vector<size_t>& arrays = array_of_[op->results[0]];
    arrays.resize(static_cast<size_t>(p.JobOf(p.Runs(), 0, 0, 0)));
    for (int64_t job = 0; job < p.JobOf(p.Runs(), 0, 0, 0); ++job) {
      const int64_t copy = job % p.copies, d = job / p.copies % p.depths;
      const int64_t tile = job / p.copies / p.depths % p.tiles;
      const int64_t passed =
          p.chunks * (copy + 1) / p.copies - p.chunks * copy / p.copies;
      const bool goes_on = p.chained && d > 0;
      Chain& chain =
          goes_on ? *(chains.end() - p.copies + copy) : chains.emplace_back();
      chain.cycles += p.CyclesOf(d, tile, passed);
      chain.jobs.push_back(&arrays[static_cast<size_t>(job)]);
    }
  }
  if (sums) std::reverse(chains.begin(), chains.end());
  std::vector<int64_t> work(arrays_.size(), 0);
  for (const Chain& chain : chains) {
    const auto least = std::min_element(work.begin(), work.end());
    *least += chain.cycles;
    for (size_t* array : chain.jobs) {
      *array = static_cast<size_t>(least - work.begin());
    }
  }
}

}  // namespace ptxla::lowering

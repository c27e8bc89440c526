#include "driver/verification/sort_ties.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hlo_backend/ir/attributes.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;

// The bytes of every operand at one position, one string each: the elements of
// a line in an order of their own.
std::vector<std::string> ElementsOfLine(absl::Span<const Literal* const> arrays,
                                        int64_t first, int64_t stride,
                                        int64_t count) {
  std::vector<std::string> line(count);
  for (int64_t k = 0; k < count; ++k) {
    for (const Literal* array : arrays) {
      line[k].append(
          reinterpret_cast<const char*>(array->element(first + k * stride)),
          array->element_bytes());
    }
  }
  std::sort(line.begin(), line.end());
  return line;
}

bool HaveSameElements(const hlo::Shape& shape, int64_t dimension,
                      absl::Span<const Literal* const> one,
                      absl::Span<const Literal* const> other) {
  const int64_t count = shape.dim(static_cast<int>(dimension));
  int64_t stride = 1;
  for (int d = static_cast<int>(dimension) + 1; d < shape.rank(); ++d) {
    stride *= shape.dim(d);
  }
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    if (i / stride % count != 0) continue;
    if (ElementsOfLine(one, i, stride, count) !=
        ElementsOfLine(other, i, stride, count)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsUnstableSort(const hlo::Instruction& i) {
  return i.opcode() == hlo::Opcode::kSort &&
         !i.attrs<hlo::SortAttrs>().is_stable;
}

bool IsSortOf(const hlo::Instruction& sort,
              absl::Span<const Literal* const> operands,
              absl::Span<const Literal* const> results,
              const hlo::EvaluatorOptions& options) {
  const hlo::Shape& shape = sort.operand(0)->shape();
  if (!HaveSameElements(shape, sort.attrs<hlo::SortAttrs>().dimension, operands,
                        results)) {
    return false;
  }
  // The evaluator's sort is stable: it leaves what is in order as it is.
  const auto again = EvaluateInstruction(sort, results, options);
  if (!again.ok()) return false;
  for (size_t k = 0; k < results.size(); ++k) {
    const Literal& same = again->IsTuple() ? again->elements()[k] : *again;
    if (!std::equal(same.bytes().begin(), same.bytes().end(),
                    results[k]->bytes().begin(), results[k]->bytes().end())) {
      return false;
    }
  }
  return true;
}

}  // namespace ptxla::driver

#include "hlo_backend/passes/layout/stacks_in_front.h"

#include <algorithm>
#include <vector>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/free_work.h"

namespace ptxla::hlo {
namespace {

// A stack of fewer, with its padding, takes as long to start as to make.
// ASSUMED.
constexpr int64_t kLeastBytes = 64 << 10;

// One number of each point.
bool HasOneAlong(const Instruction& x, int64_t d) {
  return x.shape().dim(static_cast<int>(d)) == 1;
}

bool JoinsNumbers(const Instruction& user) {
  return user.opcode() == Opcode::kReshape &&
         !SameUpToDegenerateDims(user.operand(0)->shape(), user.shape());
}

}  // namespace

std::optional<StackInFront> InFront(Builder& b, const Instruction& stack,
                                    int generation) {
  if (stack.opcode() != Opcode::kConcatenate) return {};
  const Shape& shape = stack.shape();
  const int64_t d = stack.dimensions()[0];
  const auto all = stack.operands();
  if (std::all_of(all.begin(), all.end(),
                  [](const Instruction* o) { return IsFreeWork(*o); }) ||
      !std::all_of(all.begin(), all.end(),
                   [&](const Instruction* o) { return HasOneAlong(*o, d); })) {
    return {};
  }
  const auto users = stack.users();
  if (std::any_of(users.begin(), users.end(),
                  [](const Instruction* u) { return JoinsNumbers(*u); })) {
    return {};
  }
  DimVector points;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    if (k != d && shape.dim(static_cast<int>(k)) != 1) {
      points.push_back(shape.dim(static_cast<int>(k)));
    }
  }
  DimVector planes = {shape.dim(static_cast<int>(d))};
  planes.insert(planes.end(), points.begin(), points.end());
  const int64_t now =
      TpuBytes(Shape::Array(shape.type(), shape.dims()), generation);
  const int64_t then = TpuBytes(Shape::Array(shape.type(), planes), generation);
  if (now < kLeastBytes || then * chips::WholePolicy("reshape_gain") > now) {
    return {};
  }
  DimVector one = {1};
  one.insert(one.end(), points.begin(), points.end());
  std::vector<Instruction*> numbers;
  for (Instruction* o : all) {
    numbers.push_back(
        b.Reshape(o->opcode() == Opcode::kReshape ? o->operand(0) : o, one));
  }
  // Other dimensions of one come in front.
  const auto units =
      static_cast<int64_t>(shape.rank() - 1 - static_cast<int>(points.size()));
  DimVector dims(units, 1), order(shape.rank());
  dims.insert(dims.end(), planes.begin(), planes.end());
  int64_t unit = 0, point = units + 1;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    order[k] = k == d                                ? units
               : shape.dim(static_cast<int>(k)) == 1 ? unit++
                                                     : point++;
  }
  return StackInFront{b.Reshape(b.Concatenate(numbers, 0), dims), order};
}

}  // namespace ptxla::hlo

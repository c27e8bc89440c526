// The scalar arithmetic of a kernel on known numbers: which block of an operand
// a grid step reads, whether a condition holds, how often a loop runs.
//
//   IndexMath math(module);
//   math.Set(body.arguments[0], 3);       // grid index
//   for (const Operation& op : body.operations) math.Run(op);
//   math.Get(op.operands[0])              // nullopt: depends on data
//
// What comes from memory is not known, nor what is computed from it.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_
#define PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {

class IndexMath {
 public:
  explicit IndexMath(const Module& module) : values_(module.values.size()) {}

  void Set(int value, std::optional<int64_t> number) {
    values_[value] = number;
  }
  std::optional<int64_t> Get(int value) const { return values_[value]; }
  // Sets the results of an operation on scalars; others are left unknown.
  // Regions are the caller's.
  void Run(const Operation& op);

 private:
  std::vector<std::optional<int64_t>> values_;
};

// Results of a function of integers, such as the index map of a window;
// nullopt for each that depends on data.
std::vector<std::optional<int64_t>> Call(
    const Module& module, const Operation& function,
    const std::vector<std::optional<int64_t>>& arguments);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_

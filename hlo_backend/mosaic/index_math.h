// The scalar arithmetic of a kernel on known numbers: which block of an operand
// a grid step reads, whether a condition holds, how often a loop runs.
//
//   IndexMath math(module);
//   math.Set(body.arguments[0], 3);       // grid index
//   for (const Operation& op : body.operations) math.Run(op);
//   math.Get(op.operands[0])              // nullopt: depends on data
//
// What comes from memory is known as far as the memory is (scalar_memory.h);
// without one, nothing that depends on it is.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_
#define PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/mosaic/kernel_ir.h"
#include "hlo_backend/mosaic/scalar_memory.h"

namespace ptxla::mosaic {

// Whether an operation hands on its operand's number, at most cut.
bool IsCast(const std::string& name);

class IndexMath {
 public:
  explicit IndexMath(const Module& module, ScalarMemory* memory = nullptr)
      : module_(module), memory_(memory), values_(module.values.size()) {}

  void Set(int value, std::optional<int64_t> number) {
    values_[value] = number;
  }
  std::optional<int64_t> Get(int value) const { return values_[value]; }
  // A memref by the name that the memory has for its array; itself if it has
  // no other.
  void SetArray(int value, int array) { arrays_[value] = array; }
  // Sets the results of an operation on scalars; others are left unknown.
  // Regions are the caller's.
  void Run(const Operation& op);

 private:
  // Number of the element that a load or store addresses: operand `array` and
  // the indices behind it.
  std::optional<int64_t> Address(const Operation& op, size_t array) const;
  int ArrayOf(int value) const;

  const Module& module_;
  ScalarMemory* memory_;
  std::vector<std::optional<int64_t>> values_;
  absl::flat_hash_map<int, int> arrays_;
};

// Results of a function of integers, such as the index map of a window;
// nullopt for each that depends on data. `arrays`: what the memory calls each
// of its arguments.
std::vector<std::optional<int64_t>> Call(
    const Module& module, const Operation& function,
    const std::vector<std::optional<int64_t>>& arguments,
    ScalarMemory* memory = nullptr, const std::vector<int>& arrays = {});

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_INDEX_MATH_H_

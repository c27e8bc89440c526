// The inputs of a step: made once, filled anew every step with seeded random
// values.
//
//   StepInputs inputs(&device, /*seed=*/42);
//   Tensor ids = inputs.Integers("input_ids", {32, 128}, /*limit=*/30522);
//   inputs.Load(1);          // ids has the values of step 1
#ifndef PTXLA_WORKLOADS_STEP_INPUTS_H_
#define PTXLA_WORKLOADS_STEP_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace ptxla::workloads {

class StepInputs {
 public:
  StepInputs(lazy::Device* device, uint64_t seed)
      : device_(device), seed_(seed) {}

  // s64 in [0, limit).
  lazy::Tensor Integers(const std::string& name, lazy::DimVector dims,
                        int64_t limit);
  // f32 in [0, 1).
  lazy::Tensor Floats(const std::string& name, lazy::DimVector dims);
  void Load(int64_t step);

 private:
  struct Input {
    lazy::Tensor tensor;
    double limit;
  };
  lazy::HostValue Values(size_t input, int64_t step) const;
  lazy::Tensor Add(const std::string& name, lazy::PrimitiveType type,
                   lazy::DimVector dims, double limit);

  lazy::Device* device_;
  uint64_t seed_;
  std::vector<Input> inputs_;
};

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_STEP_INPUTS_H_

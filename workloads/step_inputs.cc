#include "workloads/step_inputs.h"

#include <utility>

#include "base/hash.h"

namespace ptxla::workloads {

using lazy::DimVector;
using lazy::HostValue;
using lazy::PrimitiveType;
using lazy::Tensor;

Tensor StepInputs::Integers(const std::string& name, DimVector dims,
                            int64_t limit) {
  return Add(name, PrimitiveType::kS64, std::move(dims),
             static_cast<double>(limit));
}

Tensor StepInputs::Floats(const std::string& name, DimVector dims) {
  return Add(name, PrimitiveType::kF32, std::move(dims), 1);
}

void StepInputs::Load(int64_t step) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].tensor.Load(Values(i, step));
  }
}

HostValue StepInputs::Values(size_t input, int64_t step) const {
  return HostValue::Uniform(0, inputs_[input].limit,
                            HashCombine(HashCombine(seed_, input), step));
}

Tensor StepInputs::Add(const std::string& name, PrimitiveType type,
                       DimVector dims, double limit) {
  inputs_.push_back({Tensor(), limit});
  inputs_.back().tensor = Tensor::FromHost(device_, {type, std::move(dims)},
                                           Values(inputs_.size() - 1, 0), name);
  return inputs_.back().tensor;
}

}  // namespace ptxla::workloads

#include "sim/core/counter_range.h"

#include <variant>

namespace ptxla::sim {

bool Multiply(int64_t by, int64_t* value) {
  return !__builtin_mul_overflow(*value, by, value);
}

bool Repeat(int64_t times, size_t first_op, size_t first_transfer,
            Recorder* recorder) {
  bool fits = true;
  for (size_t i = first_op; i < recorder->ops.size(); ++i) {
    fits &= Multiply(times, &recorder->ops[i].repeat);
  }
  for (size_t i = first_transfer; i < recorder->transfers.size(); ++i) {
    fits &= Multiply(times, &recorder->transfers[i].repeat);
  }
  return fits;
}

bool CountsFit(const isa::Program& program, const Recorder& recorder) {
  double flops = 0, bytes = 0;
  for (const OpEvent& event : recorder.ops) {
    const auto* call = std::get_if<isa::Call>(&event.op->action);
    if (call == nullptr) continue;
    const isa::KernelWork& work = program.kernels[call->kernel].work;
    const auto repeat = static_cast<double>(event.repeat);
    flops += static_cast<double>(work.flops) * repeat;
    bytes += static_cast<double>(work.hbm_bytes) * repeat;
  }
  constexpr double kMost = 9e18;  // a little less than 2^63
  return flops < kMost && bytes < kMost;
}

}  // namespace ptxla::sim

// FLOPs, transcendental operations and bytes of instructions, computations and
// modules, by the rules of XLA's HloCostAnalysis.
//
//   CostAnalysis costs;                        // our deviations on
//   Cost c = costs.Of(*dot);                   // c.flops == 2*m*n*k
//   Cost all = costs.Of(*module.entry());
//
// Our deviations from XLA, each with a switch: a `while` counts its trip count
// (XLA: one iteration), and an all-reduce the additions of its group size
// (XLA: two replicas).
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_COST_ANALYSIS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_COST_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_accessed = 0;  // operands read + results written
  double bytes_written = 0;   // results only
  // Of these flops, those of dot and convolution.
  double matmul_flops = 0;
  // Holds a custom call or an opcode without a rule: the numbers are a lower
  // bound. XLA reports -1 for such an instruction.
  bool unknown = false;

  Cost& operator+=(const Cost& o);
  Cost operator*(double times) const;
};

struct CostOptions {
  bool multiply_trip_counts = true;
  // Additions per element of an all-reduce: group size - 1 (XLA: 1).
  bool use_group_sizes = true;
  // Devices that an empty replica group list means; 0: Module::DeviceCount().
  int64_t device_count = 0;
  // Bytes of a pointer in tuples.
  int64_t pointer_bytes = 8;
  // Bytes of a value; absent: Shape::ByteSize().
  std::function<int64_t(const Shape&)> shape_size;
};

class CostAnalysis {
 public:
  explicit CostAnalysis(CostOptions options = {});

  // One instruction with what it calls. Results are memoised: the module must
  // not change meanwhile.
  Cost Of(const Instruction& instruction);
  // Sum over a computation's instructions.
  Cost Of(const Computation& computation);
  Cost Of(const Module& module) { return Of(*module.entry()); }

  // Bytes read from operand i of the instruction (a fusion may read only a
  // slice of it, or read it several times).
  double OperandBytes(const Instruction& instruction, int i);
  double OutputBytes(const Instruction& instruction);

 private:
  CostOptions options_;
  absl::flat_hash_map<const Computation*, Cost> computations_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_COST_ANALYSIS_H_

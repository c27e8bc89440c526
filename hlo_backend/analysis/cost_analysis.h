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
  // Instructions without a rule (custom calls): the numbers are a lower bound.
  int64_t unknown_ops = 0;
  // Loops whose trip count depends on data: counted as one iteration.
  int64_t unknown_loops = 0;

  Cost& operator+=(const Cost& o);
  // The numbers times `times`; the counts of what is unknown stay.
  Cost Times(double times) const;
};

struct CostOptions {
  bool multiply_trip_counts = true;
  // Additions per element of an all-reduce: group size - 1 (XLA: 1).
  bool use_group_sizes = true;
  // All rows of a ragged dot whose groups share the rows (XLA: one).
  bool count_ragged_rows = true;
  // A scan applies its computation once per step (XLA: as often as its second
  // operand has elements).
  bool count_scan_steps = true;
  // Devices that an empty replica group list means; 0: Module::DeviceCount().
  int64_t device_count = 0;
  // Bytes of one pointer in the table that a tuple is.
  int64_t pointer_bytes = 8;
  // What a custom call adds to flops and bytes (XLA: -1).
  double unknown_value = 0;
  // Bytes of an array; absent: Shape::ByteSize().
  std::function<int64_t(const Shape&)> array_bytes;

  // Numbers equal to XLA's.
  static CostOptions LikeXla();
};

class CostAnalysis {
 public:
  explicit CostAnalysis(CostOptions options = {});

  // One instruction with what it calls. Costs of computations are memoised:
  // the module must not change meanwhile.
  Cost Of(const Instruction& instruction);
  // Sum over a computation's instructions.
  Cost Of(const Computation& computation);
  Cost Of(const Module& module) { return Of(*module.entry()); }

  // Bytes read from operand i: a slice reads only its result, a fusion what
  // its body uses of the parameter.
  double OperandBytes(const Instruction& instruction, int i);
  double OutputBytes(const Instruction& instruction);

 private:
  int64_t SizeOf(const Shape& shape) const;     // a tuple: its pointer table
  int64_t LeafBytes(const Shape& shape) const;  // a tuple: its arrays
  double ParameterBytes(const Instruction& parameter) const;
  void AddFlops(const Instruction& i, Cost* cost);
  void AddCallees(const Instruction& i, Cost* cost);
  double FusionConstantBytes(const Instruction& fusion) const;
  int64_t GroupSize(const Instruction& i);

  CostOptions options_;
  absl::flat_hash_map<const Computation*, Cost> computations_;
  int64_t device_count_ = 0;
};

// Multiply-adds of a convolution: XLA's count of pairs of kernel and output
// positions that meet an element of the input (not padding, not a hole of the
// base dilation).
double ConvolutionMultiplyAdds(const Instruction& convolution);
double DotMultiplyAdds(const Instruction& dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_COST_ANALYSIS_H_

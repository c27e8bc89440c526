// Runs the kernel of one HLO instruction bundle by bundle and holds its results
// against the evaluator's.
//
//   HarnessOptions options;
//   options.chip = "v6e";
//   EXPECT_OK(CompareKernel(R"(
//     HloModule m
//     ENTRY e {
//       a = f32[7,129] parameter(0)
//       b = f32[7,129] parameter(1)
//       ROOT r = f32[7,129] add(a, b)
//     })", options));
//
// The entry's root is the instruction (a fusion, or a lone one), or a tuple of
// get-tuple-elements of it; its operands are parameters or constants. Arrays
// without a layout get the TPU's default one.
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_BUNDLE_HARNESS_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_BUNDLE_HARNESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/kernel.h"
#include "isa/semantics/table.h"

namespace ptxla::lowering {

inline constexpr const char* kAllChips[] = {"v2",  "v3",  "v4",   "v5e",
                                            "v5p", "v6e", "tpu7x"};

struct HarnessOptions {
  std::string chip = "v6e";
  // Another chip than an embedded one, e.g. with a policy changed.
  const chips::ChipSpec* spec = nullptr;
  uint64_t seed = 1;
  // |difference| <= absolute + relative * |expected|; 0: by the result's type.
  double absolute = 0, relative = 0;
  // Parameters are drawn from [low, high]; integers are rounded.
  double low = -2, high = 2;
  // Arguments in VMEM instead of HBM, by kernel argument number.
  std::vector<int> in_vmem;
  // Another emitter than the one that the compiler would take.
  std::function<absl::StatusOr<isa::Kernel>(const KernelContext&,
                                            const hlo::Instruction&)>
      emit = EmitKernel;
  // Null: the real one. A mutant (isa/semantics/mutant.h) should fail.
  const isa::SemanticsTable* semantics = nullptr;
};

struct HarnessResult {
  isa::Kernel kernel;
  int64_t cycles = 0;  // executed, DMAs for free
};

// Emits the kernel, runs it, compares. InvalidArgument with the first elements
// that differ.
absl::StatusOr<HarnessResult> CompareKernel(absl::string_view hlo,
                                            const HarnessOptions& options = {});

// The kernel alone.
absl::StatusOr<isa::Kernel> KernelOf(absl::string_view hlo,
                                     const HarnessOptions& options = {});

// The TPU's tiled layouts (hlo::TpuLayout) for all arrays that have none, with
// lower tiles for arrays of few rows.
void AssignDefaultLayouts(hlo::Module* module, int generation);

// Values of a shape, the same for the same seed on every machine.
hlo::Literal RandomLiteral(const hlo::Shape& shape, uint64_t seed, double low,
                           double high);

// "" or the first differences.
std::string Differences(const hlo::Literal& expected,
                        const hlo::Literal& actual, double absolute,
                        double relative);

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_BUNDLE_HARNESS_H_

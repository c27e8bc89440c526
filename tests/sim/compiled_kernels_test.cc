// Kernels that the compiler made, on the machine: fidelities agree, and nothing
// runs faster than its chip.
#include <string>

#include "gtest/gtest.h"
#include "memory_model/hbm.h"
#include "sim/simulator.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

const char* const kModules[] = {
    R"(HloModule add
ENTRY e {
  a = f32[300,1000] parameter(0)
  b = f32[300,1000] parameter(1)
  ROOT r = f32[300,1000] add(a, b)
})",
    R"(HloModule exp
ENTRY e {
  a = f32[64,129] parameter(0)
  ROOT r = f32[64,129] exponential(a)
})",
    R"(HloModule dot
ENTRY e {
  a = bf16[256,384] parameter(0)
  b = bf16[384,512] parameter(1)
  ROOT r = bf16[256,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
    // Cores that send one another their sums, once and in each kept step.
    R"(HloModule columns
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[16384,256] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[256] reduce(a, i), dimensions={0}, to_apply=g
})",
    R"(HloModule planes
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[5,9000,100] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[5,100] reduce(a, i), dimensions={1}, to_apply=g
})",
    // Transfers that every step waits for.
    R"(HloModule rows
ENTRY e {
  a = f32[4096,256] parameter(0)
  i = s32[2048,1] parameter(1)
  ROOT r = f32[2048,256] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
})",
};

class CompiledKernels : public ::testing::TestWithParam<const char*> {
 protected:
  // A program of one call, or nothing where the compiler lacks the operation
  // for this chip.
  std::optional<isa::Program> ProgramOf(const char* hlo) {
    lowering::HarnessOptions options;
    options.chip = Chip();
    absl::StatusOr<isa::Kernel> kernel = lowering::KernelOf(hlo, options);
    if (absl::IsUnimplemented(kernel.status())) return std::nullopt;
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    if (!kernel.ok()) return std::nullopt;
    isa::Program p;
    const int cores = TestSlice(GetParam()).topology.cores_per_device();
    AddKernel(&p, *kernel, kernel->megacore_dim >= 0 ? cores : 1);
    for (isa::Buffer& b : p.buffers)
      b.offset = static_cast<int64_t>(b.id) << 20;
    return p;
  }
  std::string Chip() const {
    const std::string slice = GetParam();
    return slice.substr(0, slice.find_first_of("-:"));
  }
  record::DeviceTrace Trace(const isa::Program& p, Fidelity fidelity) {
    SimOptions options;
    options.fidelity = fidelity;
    absl::StatusOr<record::DeviceTrace> trace =
        Simulate(p, TestSlice(GetParam()), options);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace.ok() ? *trace : record::DeviceTrace();
  }
};

TEST_P(CompiledKernels, FidelitiesAgreeInCycles) {
  int ran = 0;
  for (const char* hlo : kModules) {
    const std::optional<isa::Program> p = ProgramOf(hlo);
    if (!p) continue;
    ++ran;
    const int64_t tile = Trace(*p, Fidelity::kTile).total_cycles();
    EXPECT_EQ(Trace(*p, Fidelity::kKernel).total_cycles(), tile) << hlo;
    EXPECT_EQ(Trace(*p, Fidelity::kBundle).total_cycles(), tile) << hlo;
  }
  EXPECT_GT(ran, 0);
}

TEST_P(CompiledKernels, NothingIsFasterThanTheChip) {
  const chips::Slice slice = TestSlice(GetParam());
  const memory::HbmModel hbm(slice.chip);
  const double devices = slice.chip.devices_per_chip();
  for (const char* hlo : kModules) {
    const std::optional<isa::Program> p = ProgramOf(hlo);
    if (!p) continue;
    const record::DeviceTrace trace = Trace(*p, Fidelity::kKernel);
    const double seconds =
        trace.op(0).end_ps() * 1e-12 - trace.op(0).start_ps() * 1e-12;
    const isa::KernelWork& work = p->kernels[0].work;
    EXPECT_LE(work.mxu_flops / seconds,
              slice.chip.PeakMatmul(chips::MatmulType::kBf16).count() /
                  devices * 1.0001)
        << hlo;
    EXPECT_LE(work.hbm_bytes / seconds, hbm.bandwidth().count()) << hlo;
  }
}

// The roofline is a bound, not an estimate of what is above it.
TEST_P(CompiledKernels, TheRooflineIsNotAboveTheKernel) {
  for (const char* hlo : kModules) {
    const std::optional<isa::Program> p = ProgramOf(hlo);
    if (!p) continue;
    EXPECT_LE(Trace(*p, Fidelity::kRoofline).total_cycles(),
              1.01 * Trace(*p, Fidelity::kKernel).total_cycles())
        << hlo;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, CompiledKernels,
                         ::testing::Values("v3-8", "v4:1x1x1", "v5e-1",
                                           "v5p:1x1x1", "v6e-1", "tpu7x-2"));

}  // namespace
}  // namespace ptxla::sim

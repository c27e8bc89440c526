// Nothing is faster than its chip: no op exceeds the peak of the matrix units,
// of the vector unit or of HBM, no link its rate; and what only moves data
// reaches the measured part of HBM's rate.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/properties/compiled_program.h"
#include "tests/properties/random_hlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

// Peaks of one device, for programs of f32 and bf16.
struct Peaks {
  explicit Peaks(const chips::Slice& slice) {
    const double devices = slice.chip.devices_per_chip();
    for (const chips::MatmulType t :
         {chips::MatmulType::kF32, chips::MatmulType::kBf16}) {
      matmul = std::max(matmul, slice.chip.PeakMatmul(t).count() / devices);
    }
    bytes = slice.chip.hbm_bandwidth_per_device().count();
  }
  double matmul = 0, bytes = 0;
};

void ExpectWithinPeaks(const CompiledProgram& p, Fidelity fidelity) {
  RunOptions options;
  options.fidelity = fidelity;
  const auto trace = Run(p.program, p.slice, options);
  ASSERT_OK(trace.status());
  const Peaks peaks(p.slice);
  std::map<std::string, const isa::Kernel*> kernels;
  for (const isa::Kernel& k : p.program.kernels) kernels[k.name] = &k;
  for (const record::OpTrace& op : trace->op()) {
    const double seconds =
        static_cast<double>(op.end_ps() - op.start_ps()) * 1e-12;
    const std::string what = absl::StrCat(p.name, ": ", op.name());
    if (op.kernel().empty()) continue;
    EXPECT_LE(static_cast<double>(op.bytes()), peaks.bytes * seconds) << what;
    const isa::Kernel& k = *kernels.at(op.kernel());
    EXPECT_LE(static_cast<double>(k.work.mxu_flops), peaks.matmul * seconds)
        << what;
    // No unit is busy for longer than the op runs.
    const record::UnitCycles& busy = op.busy();
    EXPECT_LE(std::max({busy.mxu(), busy.valu(), busy.eup(), busy.xlu(),
                        busy.load(), busy.store()}),
              op.cycles())
        << what;
  }
  for (const record::TransferTrace& t : trace->transfer()) {
    if (t.resource() != record::TransferTrace::HBM) continue;
    EXPECT_LE(
        static_cast<double>(t.bytes()),
        peaks.bytes * static_cast<double>(t.end_ps() - t.start_ps()) * 1e-12)
        << p.name << ": " << t.name();
  }
  for (const record::CollectiveTrace& c : trace->collective()) {
    EXPECT_LE(static_cast<double>(c.bytes_per_link()),
              p.slice.chip.ici().link.count() *
                  static_cast<double>(c.end_ps() - c.start_ps()) * 1e-12)
        << p.name << ": " << c.name();
  }
  const double total = static_cast<double>(trace->total_ps()) * 1e-12;
  EXPECT_LE(static_cast<double>(trace->hbm_bytes()), peaks.bytes * total);
}

class Physics : public ::testing::TestWithParam<std::string> {};

TEST_P(Physics, NoOpOfRealProgramsIsFasterThanItsChip) {
  for (const std::string& file : CorpusFiles()) {
    const absl::StatusOr<std::string> text = CorpusText(file);
    if (!text.ok()) GTEST_SKIP() << "no corpus";
    const absl::StatusOr<CompiledProgram> p = CompileText(*text, GetParam());
    if (absl::IsUnimplemented(p.status())) continue;
    ASSERT_OK(p.status());
    ExpectWithinPeaks(*p, Fidelity::kKernel);
    ExpectWithinPeaks(*p, Fidelity::kTile);
  }
}

TEST_P(Physics, NoOpOfRandomProgramsIsFasterThanItsChip) {
  for (int seed = 300; seed < 344; ++seed) {
    const absl::StatusOr<CompiledProgram> p =
        CompileText(MakeRandomHlo(seed).text, GetParam());
    if (!p.ok()) continue;  // random_fidelity_test counts refusals
    ExpectWithinPeaks(*p, Fidelity::kKernel);
  }
}

// The part of HBM's pin rate that long transfers were measured to reach; where
// nothing was measured, 80 to 95 %.
double MeasuredFraction(const std::string& chip) {
  if (chip == "v4") return 0.826;    // copies to CMEM of 0.5 to 33 MB
  if (chip == "v6e") return 0.855;   // 1,400 GB/s of 1,638, streamed operands
  if (chip == "tpu7x") return 0.87;  // copies of 2 MB to 8 GB
  return 0;
}

void ExpectFraction(double fraction, const std::string& chip) {
  const double measured = MeasuredFraction(chip);
  if (measured > 0) {
    EXPECT_NEAR(fraction / measured, 1, 0.05) << chip;
  } else {
    EXPECT_GE(fraction, 0.80) << chip;
    EXPECT_LE(fraction, 0.95) << chip;
  }
}

double FractionOfRate(const std::string& text, const std::string& chip,
                      double bytes) {
  const absl::StatusOr<CompiledProgram> p = CompileText(text, chip);
  EXPECT_OK(p.status());
  if (!p.ok()) return 0;
  const auto trace = Run(p->program, p->slice);
  EXPECT_OK(trace.status());
  if (!trace.ok()) return 0;
  return bytes / (static_cast<double>(trace->total_ps()) * 1e-12) /
         p->slice.chip.hbm_bandwidth_per_device().count();
}

TEST_P(Physics, ALargeStreamReachesTheMeasuredFractionOfHbm) {
  if (GetParam() == "unit") GTEST_SKIP() << "an ideal memory";
  // 512 MiB read, next to nothing written.
  const double fraction = FractionOfRate(R"(HloModule stream
max {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] maximum(x, y)
}
ENTRY main {
  a = f32[65536,2048] parameter(0)
  z = f32[] constant(-inf)
  ROOT r = f32[2048] reduce(a, z), dimensions={0}, to_apply=max
})",
                                         GetParam(), 65536.0 * 2048 * 4);
  ExpectFraction(fraction, GetParam());
  RecordProperty("fraction", std::to_string(fraction));
}

TEST_P(Physics, ALargeCopyReachesTheMeasuredFractionOfHbm) {
  if (GetParam() == "unit") GTEST_SKIP() << "an ideal memory";
  // 256 MiB read, 256 MiB written.
  const double fraction = FractionOfRate(R"(HloModule copy
ENTRY main {
  a = f32[32768,2048] parameter(0)
  ROOT r = f32[32768,2048] copy(a)
})",
                                         GetParam(), 2 * 32768.0 * 2048 * 4);
  ExpectFraction(fraction, GetParam());
  RecordProperty("fraction", std::to_string(fraction));
}

INSTANTIATE_TEST_SUITE_P(Chips, Physics, ::testing::ValuesIn(AllChips()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace ptxla::testing

// Seeded random modules, over all chips in turn, of which at least 200 compile:
// tile and bundle take the same cycles, kernel is within 1 % of them, memo
// changes nothing, and what the bundles compute is what the evaluator computes.
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "sim/core/program_data.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/properties/compiled_program.h"
#include "tests/properties/random_hlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

constexpr int kSeeds = 300;
constexpr int kGroups = 20;
// Modules of them that the compiler may refuse: lower it when it learns more.
constexpr int kMostRefused = 44;

const std::string& ChipOf(int seed) {
  static const auto* const kChips = new std::vector<std::string>(AllChips());
  return (*kChips)[seed % kChips->size()];
}

// What has no kernel is refused with its name, never computed wrongly.
bool Refused(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
}

// Mean square of what is finite.
double Rms(const hlo::Literal& x) {
  double sum = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    const double v = x.GetDouble(i);
    if (!std::isfinite(v)) continue;
    sum += v * v;
    ++n;
  }
  return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

// Bundles on data, for the cycles; the results against the evaluator's.
int64_t BundleCycles(const CompiledProgram& p, const RandomHlo& m) {
  sim::ProgramData data(p.program, p.slice);
  std::vector<hlo::Literal> arguments;
  const hlo::Computation& entry = *p.source->entry();
  for (int k = 0; k < entry.parameter_count(); ++k) {
    const hlo::Shape& shape = entry.parameter(k)->shape();
    const bool index = hlo::IsInteger(shape.type());
    arguments.push_back(lowering::RandomLiteral(
        shape, 1000 + k, index ? 0 : -2,
        index ? static_cast<double>(m.integer_limit) : 2));
    const auto bytes = arguments.back().mutable_bytes();
    EXPECT_OK(data.SetParameter(
        k, absl::MakeSpan(reinterpret_cast<const uint8_t*>(bytes.data()),
                          bytes.size())));
  }
  sim::SimOptions options;
  options.fidelity = Fidelity::kBundle;
  options.data = &data;
  const absl::StatusOr<record::DeviceTrace> trace =
      sim::Simulate(p.program, p.slice, options);
  EXPECT_OK(trace.status());
  if (!trace.ok()) return -1;

  hlo::EvaluatorOptions tpu;
  tpu.tpu_mode = true;
  tpu.tpu_generation = std::max(2, p.slice.chip.generation());
  const absl::StatusOr<hlo::Literal> expected =
      hlo::Evaluate(*p.source, arguments, tpu);
  EXPECT_OK(expected.status());
  if (!expected.ok()) return -1;
  const double tolerance = m.coarse ? 0.04 : 2e-4;
  for (size_t k = 0; k < p.program.outputs.size(); ++k) {
    const absl::StatusOr<std::vector<uint8_t>> bytes =
        data.Output(static_cast<int>(k));
    EXPECT_OK(bytes.status());
    const hlo::Literal& want = expected->elements()[k];
    const hlo::Literal actual = hlo::Literal::FromBytes(want.shape(), *bytes);
    const bool real = hlo::IsFloat(want.shape().type());
    const std::string differences = lowering::Differences(
        want, actual, real ? tolerance * Rms(want) : 0, real ? tolerance : 0);
    EXPECT_EQ(differences, "") << "result " << k;
  }
  return trace->total_cycles();
}

class RandomFidelity : public ::testing::TestWithParam<int> {};

TEST_P(RandomFidelity, AgreesInCyclesAndResults) {
  for (int k = 0; k < kSeeds / kGroups; ++k) {
    const int seed = GetParam() * (kSeeds / kGroups) + k;
    const RandomHlo m = MakeRandomHlo(seed);
    SCOPED_TRACE(
        absl::StrCat("seed ", seed, " on ", ChipOf(seed), "\n", m.text));
    const absl::StatusOr<CompiledProgram> p = CompileText(m.text, ChipOf(seed));
    if (Refused(p.status())) continue;
    EXPECT_OK(p.status());
    if (!p.ok()) continue;
    const int64_t tile = Cycles(*p, Fidelity::kTile);
    const int64_t kernel = Cycles(*p, Fidelity::kKernel);
    EXPECT_EQ(BundleCycles(*p, m), tile);
    EXPECT_NEAR(kernel, tile, 0.01 * tile);
    EXPECT_EQ(Cycles(*p, Fidelity::kKernel, /*memoize=*/false), kernel);
    EXPECT_EQ(Cycles(*p, Fidelity::kTile, /*memoize=*/false), tile);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFidelity, ::testing::Range(0, kGroups));

TEST(RandomPrograms, FewAreRefused) {
  int refused = 0;
  std::string reasons;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const absl::Status status =
        CompileText(MakeRandomHlo(seed).text, ChipOf(seed)).status();
    if (!Refused(status)) continue;
    ++refused;
    absl::StrAppend(&reasons, "seed ", seed, " on ", ChipOf(seed), ": ",
                    status.message(), "\n");
  }
  EXPECT_LE(refused, kMostRefused) << reasons;
  EXPECT_GE(kSeeds - refused, 200);
  RecordProperty("refused", refused);
}

}  // namespace
}  // namespace ptxla::testing

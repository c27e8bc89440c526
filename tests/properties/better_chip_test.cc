// A better number never makes the same program slower; and a program that is
// compiled anew for the better chip is at most 2 % slower, since choices are
// made by estimates.
#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/core/timing_cache.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

// What makes a number better: +1 more of it, -1 less of it, 0 neither (a shape
// of the machine, a rule of the compiler, what only prices or hosts read).
// nullopt: this table does not know it.
std::optional<int> BetterWhen(const std::string& key) {
  struct Rule {
    const char* prefix;
    int better;
  };
  static constexpr Rule kRules[] = {
      {"clock.", 1},
      {"cores.", 0},
      {"mxu.count", 1},
      {"mxu.staging", 1},
      {"mxu.", 0},
      {"vreg.count", 1},
      {"vreg.", 0},
      {"sreg.", 1},
      {"preg.", 1},
      {"mask.", 1},
      {"branch.", -1},
      {"slot.", 1},
      {"vmem.bank", 0},
      {"vmem.", 1},
      {"smem.", 1},
      {"cmem.", 1},
      {"hbm.turnaround", -1},
      {"hbm.block_half", -1},
      {"hbm.latency", -1},
      {"hbm.temp_slot", 0},
      {"hbm.table_unit", 0},
      {"hbm.", 1},
      {"dma.granule", -1},
      {"dma.descriptor", -1},
      {"dma.on_chip_latency", -1},
      {"dma.on_chip", 1},
      {"kernel.", -1},
      {"latency.", -1},
      {"interval.", -1},
      {"fifo.", 1},
      {"policy.", 0},
      {"ici.hop", -1},
      {"ici.collective_startup", -1},
      {"ici.permute_startup", -1},
      {"ici.", 1},
      {"pcie.", 1},
      {"dcn.latency", -1},
      {"dcn.", 1},
      {"host.", 0},
      {"power.", 0},
  };
  for (const Rule& rule : kRules) {
    if (absl::StartsWith(key, rule.prefix)) return rule.better;
  }
  return std::nullopt;
}

struct Better {
  std::string key;
  chips::ChipSpec chip;
};

// The chip with one number better, for each that can be.
std::vector<Better> BetterChips(const chips::ChipSpec& chip) {
  std::vector<Better> result;
  for (const chips::Parameter& p : chip.parameters()) {
    const std::optional<int> better = BetterWhen(p.key);
    EXPECT_TRUE(better.has_value())
        << p.key << ": say in BetterWhen when it is better";
    if (!better || *better == 0 || p.value == 0) continue;
    const double factor = *better > 0 ? 1.3 : 0.6;
    double value = p.value * factor;
    if (p.rule->integer) value = *better > 0 ? p.value + 1 : p.value - 1;
    if (p.rule->dimension == chips::Dimension::kBytes) {
      value = *better > 0 ? 2 * p.value : p.value / 2;
    }
    if (p.rule->integer && value < 1) continue;
    const absl::StatusOr<chips::ChipSpec> changed =
        chip.WithValue(p.key, value);
    // A fraction of 1 cannot be better.
    if (!changed.ok() || changed->fingerprint() == chip.fingerprint()) continue;
    result.push_back({p.key, *changed});
  }
  return result;
}

int64_t Time(const isa::Program& program, const chips::Slice& slice,
             Fidelity fidelity, sim::TimingCache* timings) {
  RunOptions options;
  options.fidelity = fidelity;
  options.timings = timings;
  const auto trace = Run(program, slice, options);
  EXPECT_OK(trace.status());
  return trace.ok() ? trace->total_ps() : -1;
}

void ExpectNeverSlower(const std::string& text, const std::string& topology,
                       Fidelity fidelity) {
  const absl::StatusOr<CompiledProgram> p = CompileText(text, topology);
  if (absl::IsUnimplemented(p.status())) return;
  ASSERT_OK(p.status());
  sim::TimingCache timings;
  const int64_t base = Time(p->program, p->slice, fidelity, &timings);
  int changed = 0;
  for (const Better& b : BetterChips(p->slice.chip)) {
    const int64_t time =
        Time(p->program, SliceWith(topology, b.chip), fidelity, &timings);
    // With another clock, every wait ends at another edge.
    const double slack = b.key == "clock.core" ? 5e-4 * base : 0;
    EXPECT_LE(time, base + slack) << p->name << ": " << b.key;
    changed += time < base;
  }
  // Not a test of numbers that nothing reads.
  EXPECT_GE(changed, 3) << p->name;
}

class BetterChip : public ::testing::TestWithParam<std::string> {};

TEST_P(BetterChip, IsNeverSlowerOnTheSameProgram) {
  const absl::StatusOr<std::string> text = CorpusText(GetParam());
  if (!text.ok()) GTEST_SKIP() << "no corpus";
  for (const char* chip : {"v4", "v6e"}) {
    ExpectNeverSlower(*text, chip, Fidelity::kKernel);
  }
  ExpectNeverSlower(*text, "v5p", Fidelity::kTile);
}

TEST_P(BetterChip, IsHardlySlowerOnAProgramCompiledForIt) {
  const absl::StatusOr<std::string> text = CorpusText(GetParam());
  if (!text.ok()) GTEST_SKIP() << "no corpus";
  // Compiling takes longer than simulating: the largest program only for the
  // numbers that choices hang on.
  const bool large = text->size() > 200'000;
  const std::string topology = "v6e";
  ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(*text, topology));
  const int64_t base = Time(p.program, p.slice, Fidelity::kKernel, nullptr);
  for (const Better& b : BetterChips(p.slice.chip)) {
    if (large && b.key != "hbm.bandwidth" && b.key != "vmem.usable" &&
        b.key != "clock.core") {
      continue;
    }
    const absl::StatusOr<CompiledProgram> again =
        CompileText(*text, SliceWith(topology, b.chip));
    ASSERT_OK(again.status()) << b.key;
    EXPECT_LE(Time(again->program, again->slice, Fidelity::kKernel, nullptr),
              1.02 * base)
        << p.name << ": " << b.key;
  }
}

std::string Stem(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}
INSTANTIATE_TEST_SUITE_P(Files, BetterChip, ::testing::ValuesIn(CorpusFiles()),
                         Stem);

}  // namespace
}  // namespace ptxla::testing

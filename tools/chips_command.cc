// ptxla-sim chips: what chips are known, with slices and sources.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "chips/topology.h"
#include "reports/format.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace ptxla::tools {
namespace {

constexpr char kChipsExamples[] = R"(
Examples:
  ptxla-sim chips              all chips in a table
  ptxla-sim chips v5e          its slices and every number with its source
)";

std::string Table() {
  std::string out =
      absl::StrFormat("%-6s %6s %9s %9s %9s %9s  %-20s %s\n", "chip", "cores",
                      "bf16", "HBM", "HBM", "price", "slices", "title");
  absl::StrAppendFormat(&out, "%-6s %6s %9s %9s %9s %9s\n", "", "/chip",
                        "TFLOP/s", "GiB", "GB/s", "$/chip-h");
  for (const std::string& name : chips::ChipSpec::Names()) {
    const auto chip = chips::ChipSpec::Load(name);
    if (!chip.ok()) continue;
    const auto shapes = chips::NamedShapes(*chip);
    std::string slices = "one chip";
    if (shapes.size() > 1) {
      slices = absl::StrCat(chips::SliceName(*chip, shapes.front()), " .. ",
                            chips::SliceName(*chip, shapes.back()));
    }
    absl::StrAppendFormat(
        &out, "%-6s %6d %9s %9s %9s %9s  %-20s %s\n", name,
        chip->core().cores_per_chip,
        reports::Significant(
            chip->PeakMatmul(chips::MatmulType::kBf16).count() / 1e12, 4),
        reports::Significant(
            static_cast<double>(chip->hbm().nominal.count()) / (1 << 30), 3),
        reports::Significant(chip->hbm().bandwidth.count() / 1e9, 4),
        chip->prices().empty()
            ? "-"
            : absl::StrFormat("%.2f",
                              chip->prices().front().usd_per_chip_hour()),
        slices, chip->title());
  }
  return out;
}

void AddNumber(const chips::Parameter& p, std::string* out) {
  absl::StrAppend(out, "  ", reports::PadRight(p.key, 36), " ",
                  reports::PadLeft(absl::StrFormat("%.9g", p.written), 10), " ",
                  reports::PadRight(p.unit, 12), " ",
                  reports::PadRight(chips::Confidence_Name(p.confidence), 11),
                  p.source, "\n");
}

std::string Details(const chips::ChipSpec& chip) {
  std::string out = absl::StrCat(chip.name(), ": ", chip.title(), "\n\nslices");
  for (const std::vector<int>& shape : chips::NamedShapes(chip)) {
    absl::StrAppend(&out, "\n  ",
                    reports::PadRight(chips::SliceName(chip, shape), 16),
                    absl::StrJoin(shape, "x"));
  }
  absl::StrAppend(&out, "\n\nnumbers\n");
  for (const chips::Parameter& p : chip.parameters()) AddNumber(p, &out);
  absl::StrAppend(&out, "\nnumbers of every chip\n");
  for (const chips::Parameter& p : chips::CompilerPolicies()) {
    if (chip.Find(p.key) == nullptr) AddNumber(p, &out);
  }
  for (const chips::PriceProto& p : chip.prices()) {
    absl::StrAppend(&out, "\nprice  ", reports::Usd(p.usd_per_chip_hour()),
                    "/chip-h ", p.kind(), ", ", p.region(), ", ", p.date(),
                    "  (", p.source(), ")\n");
  }
  return out;
}

}  // namespace

int ChipsCommand(const Words& words) {
  std::string name;
  CLI::App app("List the chips that are known.", "ptxla-sim chips");
  app.add_option("name", name, "one chip in detail")->type_name("CHIP");
  app.footer(kChipsExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (name.empty()) {
    std::fputs(Table().c_str(), stdout);
    return 0;
  }
  const auto chip = chips::ChipSpec::Load(name);
  if (!chip.ok()) return Fail(chip.status(), false, "arguments");
  std::fputs(Details(*chip).c_str(), stdout);
  return 0;
}

}  // namespace ptxla::tools

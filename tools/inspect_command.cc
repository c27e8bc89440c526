// ptxla-sim inspect: what an HLO file asks of a chip, and what becomes of it.
#include <cmath>
#include <cstdio>

#include "chips/chip_spec.h"
#include "driver/inspect.h"
#include "hlo_backend/input/elided_values.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/inspect_report.h"

namespace ptxla::tools {
namespace {

constexpr char kInspectExamples[] = R"(
Columns:
  FLOP, bytes     by the rules of XLA's cost analysis, times the iterations of
                  loops; FLOP/B is what is compared with the chip's ridge
  time            roofline: larger of FLOP over peak and bytes over bandwidth
  on the TPU      what the compiler makes of them: kernel (computed by bundles),
                  schedule (a copy, a collective), free (nothing to do), merged
                  (rewritten, part of others), refused (`run` stops, or
                  estimates with --unknown-ops=estimate)

Examples:
  ptxla-sim inspect module.hlo
  ptxla-sim inspect dump_folder --hlo-module jit_step --top 40
  ptxla-sim inspect - --chip v6e --json < module.hlo
)";

}  // namespace

int InspectCommand(const Words& words) {
  std::string path, chip_name = "v5e", elided = "error";
  bool json = false, no_compile = false;
  int top = 12;
  driver::InspectOptions options;
  CLI::App app("Operators and cost of an HLO file, before any simulation.",
               "ptxla-sim inspect");
  app.add_option(
         "file", path,
         "HLO text, a proto, StableHLO, a folder of --xla_dump_to, or -")
      ->type_name("FILE");
  app.add_option("--chip", chip_name, "whose roofline and compiler to use")
      ->type_name("CHIP")
      ->capture_default_str();
  app.add_option("--top", top, "how many of the most expensive instructions")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--hlo-module", options.input.module,
                 "of a folder: part of the name of the module")
      ->type_name("NAME");
  app.add_option("--hlo-stage", options.input.stage,
                 "of a folder: before_optimizations, after_optimizations ...")
      ->type_name("STAGE");
  app.add_option("--elided", elided,
                 "values of constant({...}): error, iota or zero")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--sizes", options.input.sizes,
                 "of open dimensions (tensor<?x16xf32>) of StableHLO "
                 "arguments, in order")
      ->type_name("N,M")
      ->delimiter(',');
  app.add_flag("--no-compile", no_compile,
               "costs only, without what becomes of the instructions");
  app.add_flag("--like-xla", options.like_xla,
               "count as XLA does: loops once, an all-reduce as of two");
  app.add_flag("--json", json, "one JSON object");
  app.footer(kInspectExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (path.empty()) {
    return Fail(absl::InvalidArgumentError("inspect needs a file, or -"), json,
                "arguments");
  }
  if (top < 0) {
    return Fail(absl::InvalidArgumentError("--top must not be negative"), json,
                "arguments");
  }
  const auto chip = chips::ChipSpec::Load(chip_name);
  if (!chip.ok()) return Fail(chip.status(), json, "arguments");
  const auto values = hlo::ParseElidedValues(elided);
  if (!values.ok()) return Fail(values.status(), json, "arguments");
  options.input.elided = *values;
  options.compile = !no_compile;
  const auto inspection =
      WithProgress([&] { return driver::Inspect(path, *chip, options); });
  if (!inspection.ok()) return Fail(inspection.status(), json, "inspect");
  std::fputs((json ? InspectionJson(*inspection, *chip)
                   : InspectionText(*inspection, *chip, top))
                 .c_str(),
             stdout);
  return 0;
}

}  // namespace ptxla::tools

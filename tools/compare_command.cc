// ptxla-sim compare: one program as two compilers schedule it.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "driver/parity/compare.h"
#include "driver/stage.h"
#include "reports/json_report.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace ptxla::tools {
namespace {

using Json = nlohmann::ordered_json;
using driver::ComparedKernels;
using driver::ComparedSum;
using driver::KernelGroup;

constexpr char kCompareExamples[] = R"(
One program as two compilers schedule it, both with our bundles on our machine:
"here" is our compiler, "there" libtpu, or the schedule in the second file.

  same kernel   root operation, operands and results are equal
  same result   something else is read, or the work behind is another
  only there, only here
  others        waits for copies, collectives, and what is between kernels

there-here is what each difference costs: + where theirs takes longer.

Examples:
  ptxla-sim compare step.hlo --topology v5e-1 --python venv/bin/python
  ptxla-sim compare step.hlo step.scheduled.hlo --topology v5e-1 --top 0
)";

double Seconds(int64_t ps) { return static_cast<double>(ps) * 1e-12; }

Json GroupJson(const KernelGroup& g) {
  if (g.kernels == 0) return {};
  return Json{{"name", g.name},
              {"root", g.root},
              {"result", g.result},
              {"kernels", g.kernels},
              {"kernels_of_ours", g.parts},
              {"time_s", Seconds(g.time_ps)}};
}

Json SumJson(const ComparedSum& s) {
  return Json{{"name", s.name},
              {"kernels_there", s.there},
              {"kernels_here", s.here},
              {"there_s", Seconds(s.there_ps)},
              {"here_s", Seconds(s.here_ps)},
              {"cost_s", Seconds(s.CostPs())}};
}

std::string ComparisonJson(const driver::ComparedCompilers& c) {
  const driver::ScheduleComparison& k = c.kernels;
  Json kernels = Json::array(), sums = Json::array();
  for (const ComparedKernels& row : k.kernels) {
    kernels.push_back(Json{{"match", driver::MatchName(row.match)},
                           {"cost_s", Seconds(row.CostPs())},
                           {"there", GroupJson(row.there)},
                           {"here", GroupJson(row.here)}});
  }
  for (const ComparedSum& sum : k.sums) sums.push_back(SumJson(sum));
  return Json{{"schema_version", reports::kJsonSchemaVersion},
              {"program", c.program},
              {"topology", c.topology},
              {"there", c.there},
              {"here", c.here},
              {"warning", c.warning.empty() ? Json() : Json(c.warning)},
              {"total", SumJson(k.total)},
              {"sums", std::move(sums)},
              {"taken_apart_there", k.there_taken_apart},
              {"taken_apart_there_s", Seconds(k.there_taken_apart_ps)},
              {"taken_apart_here", k.here_taken_apart},
              {"peak_bytes_there", k.there_peak_bytes},
              {"peak_bytes_here", k.here_peak_bytes},
              {"rank_correlation",
               k.rank_correlation ? Json(*k.rank_correlation) : Json()},
              {"kernels", std::move(kernels)}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace

int CompareCommand(const Words& words) {
  driver::CompareRequest request;
  driver::RunRequest& r = request.run;
  r.compiler = "libtpu";
  r.compiler_cache = CompilerCacheFolder();
  Words files;
  std::string unknown_ops = "error";
  int top = 20;
  bool json = false;
  CLI::App app("One program as two compilers schedule it, kernel by kernel.",
               "ptxla-sim compare");
  app.add_option("files", files,
                 "the program; and a schedule of it (default: libtpu's)")
      ->type_name("FILE");
  app.add_option("--topology", r.topology,
                 "the slice: v5e-8, v4-8, v5p:4x4x8, ... (ptxla-sim chips)")
      ->type_name("SLICE");
  app.add_option("--compiler", r.compiler,
                 "of one file: who makes the other schedule (needs jax and "
                 "libtpu)")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--python", r.python, "of --compiler=libtpu")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_option("--compiler-cache", r.compiler_cache,
                 "of --compiler=libtpu: what was compiled before")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--top", top, "how many differences, the largest; 0: all")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--hlo-module", r.hlo_module,
                 "of a folder: part of the name of the module")
      ->type_name("NAME");
  app.add_option("--hlo-stage", r.hlo_stage,
                 "of a folder: before_optimizations ...")
      ->type_name("STAGE");
  app.add_option("--elided", r.elided,
                 "values of constant({...}): error, iota or zero")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--sizes", r.sizes,
                 "of open dimensions (tensor<?x16xf32>) of StableHLO "
                 "arguments, in order")
      ->type_name("N,M")
      ->delimiter(',');
  app.add_option("--unknown-ops", unknown_ops,
                 "error, or estimate: guess a roofline time")
      ->check(CLI::IsMember({"error", "estimate"}))
      ->capture_default_str();
  app.add_option("--trip-count", r.assumed_trip_count,
                 "how often a loop runs whose count depends on data")
      ->check(AtLeastOne())
      ->type_name("N");
  app.add_option("--chip-file", r.chip_file,
                 "numbers of the chip instead of the built-in ones")
      ->type_name("FILE");
  app.add_option("--cores-per-chip", r.cores_per_chip,
                 "TensorCores in use (default: all of one device)")
      ->check(AtLeastOne())
      ->type_name("N");
  app.add_flag("--json", json, "one JSON object, with all kernels");
  app.footer(kCompareExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  const auto wrong = [&](const std::string& what) {
    return Fail(absl::InvalidArgumentError(what), json, "arguments");
  };
  if (files.empty() || files.size() > 2) {
    return wrong(
        absl::StrCat("compare takes an HLO file and perhaps a second "
                     "one with a schedule of it, not ",
                     files.size(), " files"));
  }
  if (top < 0) return wrong("--top must not be negative");
  for (const char* option : {"--compiler", "--python", "--compiler-cache"}) {
    if (app.count(option) > 0 && files.size() == 2) {
      return wrong(absl::StrCat(
          option, " goes with one file only: the second is the schedule"));
    }
  }
  r.estimate_unknown_ops = unknown_ops == "estimate";
  r.hlo = files[0];
  if (files.size() == 2) request.other = files[1];
  const auto compared =
      WithProgress([&] { return driver::CompareFiles(request); });
  if (!compared.ok()) return Fail(compared.status(), json, "compare");
  std::fputs((json ? ComparisonJson(*compared)
                   : driver::ComparisonText(*compared, top))
                 .c_str(),
             stdout);
  return driver::kExitDone;
}

}  // namespace ptxla::tools

// ptxla-sim run: one prediction.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "driver/prediction.h"
#include "driver/stage.h"
#include "reports/database.h"
#include "reports/explanation.h"
#include "reports/json_report.h"
#include "reports/summary.h"
#include "reports/ulid.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace ptxla::tools {
namespace {

constexpr char kRunExamples[] = R"(
Examples:
  ptxla-sim --workload bert --topology v5e-8
  ptxla-sim run --hlo layer_norm.hlo --topology v6e-1 --json --db none
  ptxla-sim run --hlo - --topology v5p:1x1x1 < module.hlo
  ptxla-sim --workload bert --topology v5e-8 --explain "encoder.*.ffn matmul"
  ptxla-sim run --hlo module.hlo --topology v6e-1 --dump-to stages --trace t.json
)";

struct Options {
  driver::RunRequest request;
  std::string unknown_ops = "error";
  std::string database = "./ptxla-sim.sqlite";
  std::string trace;
  bool json = false;
  bool quiet = false;
};

void AddOptions(CLI::App* app, Options* o) {
  driver::RunRequest& r = o->request;
  app->add_option("--workload", r.workload,
                  "what to run (ptxla-sim workloads lists them)")
      ->type_name("NAME");
  app->add_option(
         "--hlo", r.hlo,
         "HLO text, a proto, StableHLO, a folder of --xla_dump_to, or -")
      ->type_name("FILE");
  app->add_option("--hlo-module", r.hlo_module,
                  "of a folder: part of the name of the module")
      ->type_name("NAME");
  app->add_option("--hlo-stage", r.hlo_stage,
                  "of a folder: before_optimizations, after_optimizations ...")
      ->type_name("STAGE");
  app->add_option("--elided", r.elided,
                  "values of constant({...}): error, iota or zero")
      ->type_name("WHAT")
      ->capture_default_str();
  app->add_option("--sizes", r.sizes,
                  "of open dimensions (tensor<?x16xf32>) of StableHLO "
                  "arguments, in order")
      ->type_name("N,M")
      ->delimiter(',');
  app->add_option("--topology", r.topology,
                  "the slice: v5e-8, v4-8, v5p:4x4x8, ... (ptxla-sim chips)")
      ->type_name("SLICE");
  app->add_option("--global-batch", r.global_batch,
                  "samples per step over all chips")
      ->type_name("N");
  app->add_option("--batch-per-chip", r.batch_per_chip,
                  "samples per step and chip")
      ->type_name("N");
  app->add_option("--seq", r.seq, "sequence length")->type_name("N");
  app->add_option("--set", r.settings, "a field of the workload: layers=2")
      ->type_name("KEY=VALUE");
  app->add_option("--steps", r.steps,
                  "steps to trace; the last is taken as the steady state")
      ->check(AtLeastOne())
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--fidelity", r.fidelity,
                  "roofline (fast), kernel, tile (every DMA an event), or "
                  "bundle (and every instruction executed, on zeros)")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--unknown-ops", o->unknown_ops,
                  "error, or estimate: guess a roofline time and say so")
      ->check(CLI::IsMember({"error", "estimate"}))
      ->type_name("WHAT")
      ->capture_default_str();
  app->add_option("--trip-count", r.assumed_trip_count,
                  "how often a loop runs whose count depends on data "
                  "(default: such loops are refused)")
      ->check(AtLeastOne())
      ->type_name("N");
  app->add_option("--compiler", r.compiler,
                  "own, or libtpu: the TPU compiler schedules (needs jax and "
                  "libtpu), our bundles run")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--python", r.python, "of --compiler=libtpu")
      ->type_name("PATH")
      ->capture_default_str();
  app->add_option("--compiler-cache", r.compiler_cache,
                  "of --compiler=libtpu: what was compiled before")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_option("--chip-file", r.chip_file,
                  "numbers of the chip instead of the built-in ones")
      ->type_name("FILE");
  app->add_option("--cores-per-chip", r.cores_per_chip,
                  "TensorCores in use (default: all of one device)")
      ->check(AtLeastOne())
      ->type_name("N");
  app->add_flag("--verify", r.verify,
                "execute the bundles on data and compare with the evaluator");
  app->add_option("--db", o->database,
                  "where to save the run, or none (also: PTXLA_SIM_DB)")
      ->check(NotEmpty())
      ->type_name("PATH")
      ->capture_default_str();
  app->add_flag("--json", o->json, "one JSON object instead of the report");
  app->add_option("--explain", r.explain,
                  "why one op takes its time: an HLO name, or a hot spot")
      ->check(NotEmpty())
      ->type_name("OP");
  app->add_option("--trace", o->trace, "a timeline for ui.perfetto.dev")
      ->check(NotEmpty())
      ->type_name("FILE");
  app->add_option("--dump-to", r.dump_to, "every stage as a numbered file")
      ->type_name("DIR");
  app->add_flag("--quiet", o->quiet, "no report, only save");
}

absl::Status Check(const CLI::App& app, Options* o) {
  for (const char* option : {"--python", "--compiler-cache"}) {
    if (app.count(option) > 0 && o->request.compiler == "own") {
      return absl::InvalidArgumentError(
          absl::StrCat(option, " goes with --compiler=libtpu only"));
    }
  }
  o->request.estimate_unknown_ops = o->unknown_ops == "estimate";
  o->request.timeline = !o->trace.empty();
  if (o->request.timeline) RETURN_IF_ERROR(CheckWritable(o->trace));
  if (o->database != "none") {
    RETURN_IF_ERROR(reports::Database::CheckWritable(o->database));
  }
  return absl::OkStatus();
}

void Identify(std::chrono::steady_clock::time_point begin,
              record::RunRecord* record) {
  const int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  record->set_run_id(reports::NewUlid(now));
  record->set_started_unix_ms(now);
  record->mutable_tool()->set_version(driver::Version());
  record->mutable_tool()->set_wall_s(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count());
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  record->mutable_tool()->set_peak_rss_bytes(usage.ru_maxrss * 1024);
}

absl::Status Save(const Options& o, const driver::Prediction& prediction) {
  // A program that does not fit has no timeline.
  if (!o.trace.empty() && !prediction.timeline.empty()) {
    RETURN_IF_ERROR(
        driver::At("trace", WriteFile(o.trace, prediction.timeline)));
  }
  if (o.database == "none") return absl::OkStatus();
  auto database = reports::Database::Open(o.database);
  if (!database.ok()) return driver::At("database", database.status());
  return driver::At("database", database->Save(prediction.record));
}

}  // namespace

int RunCommand(const Words& words) {
  const auto begin = std::chrono::steady_clock::now();
  Options options;
  const char* database = std::getenv("PTXLA_SIM_DB");
  if (database != nullptr && *database != '\0') options.database = database;
  options.request.compiler_cache = CompilerCacheFolder();
  CLI::App app("Predict one run.", "ptxla-sim run");
  AddOptions(&app, &options);
  app.footer(kRunExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  const absl::Status checked = Check(app, &options);
  if (!checked.ok()) return Fail(checked, options.json, "arguments");
  const auto predict = [&] { return driver::Predict(options.request); };
  auto prediction = options.quiet ? predict() : WithProgress(predict);
  if (!prediction.ok()) {
    return Fail(prediction.status(), options.json, "run");
  }
  Identify(begin, &prediction->record);
  const absl::Status saved = Save(options, *prediction);
  if (!saved.ok()) return Fail(saved, options.json, "save");
  const record::RunRecord& record = prediction->record;
  if (prediction->explanation.has_value()) {
    const record::Explanation& e = *prediction->explanation;
    std::fputs((options.json ? reports::ExplanationJson(e)
                             : reports::ExplanationText(e))
                   .c_str(),
               stdout);
  } else if (options.json) {
    std::fputs(reports::RunJson(record).c_str(), stdout);
  } else if (!options.quiet) {
    reports::SummaryOptions summary;
    if (options.database != "none") summary.saved_to = options.database;
    std::fputs(reports::RenderSummary(record, summary).c_str(), stdout);
  }
  for (const std::string& line : prediction->verifications) {
    std::fputs(absl::StrCat("  ", line, "\n").c_str(),
               options.json ? stderr : stdout);
  }
  if (record.status().code() == "OK") return driver::kExitDone;
  if (!options.json) {
    std::fputs(absl::StrCat("error: ", record.status().message(), "\n").c_str(),
               stderr);
  }
  return driver::kExitDoesNotFit;
}

}  // namespace ptxla::tools

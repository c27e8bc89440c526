// ptxla-sim validate: predicted against measured.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "driver/measured_rows.h"
#include "driver/mechanisms.h"
#include "driver/stage.h"
#include "driver/validation.h"
#include "driver/validation_summary.h"
#include "hlo_backend/passes/pipeline.h"
#include "reports/json_report.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/validate_modes.h"

namespace ptxla::tools {
namespace {

using Json = nlohmann::ordered_json;
using driver::BlockSummary;
using driver::ValidatedRow;

constexpr char kValidateExamples[] = R"(
Examples:
  ptxla-sim validate --kernels measured/kernels.csv
  ptxla-sim validate --kernels measured/kernels.csv --row B-GEMM-0001 --explain
  ptxla-sim validate --compiler measured/tpu_compiler/v6e.csv --row C-SDPA
  ptxla-sim validate --kernels measured/kernels.csv --max-error B-GEMM=5
  ptxla-sim validate --kernels measured/kernels.csv --compiler=libtpu
)";

struct Limit {
  std::string block;
  double percent = 0;
};

absl::StatusOr<std::vector<Limit>> ParseLimits(const Words& words) {
  std::vector<Limit> limits;
  for (const std::string& word : words) {
    const std::vector<std::string> parts = absl::StrSplit(word, '=');
    Limit limit;
    if (parts.size() != 2 || !absl::SimpleAtod(parts[1], &limit.percent) ||
        !(limit.percent >= 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--max-error wants BLOCK=PERCENT, not \"", word, "\""));
    }
    limit.block = parts[0];
    limits.push_back(limit);
  }
  return limits;
}

// "" if all blocks keep to their limits.
std::string Exceeded(const driver::ValidationSummary& summary,
                     const std::vector<Limit>& limits) {
  std::string out;
  for (const Limit& limit : limits) {
    double sum = 0;
    int rows = 0;
    for (const BlockSummary& b : summary.blocks) {
      if (b.block != limit.block) continue;
      sum += b.mean * b.runnable;
      rows += b.runnable;
    }
    if (rows == 0) {
      absl::StrAppend(&out, "no row of block ", limit.block, " can run\n");
    } else if (sum / rows * 100 > limit.percent) {
      absl::StrAppendFormat(&out, "%s: mean error %.2f %% is over %g %%\n",
                            limit.block, sum / rows * 100, limit.percent);
    }
  }
  return out;
}

Json RowJson(const ValidatedRow& row) {
  Json j{{"id", row.row.id}, {"block", row.row.block}};
  j["measured"] = row.row.time_us ? Json(*row.row.time_us) : Json();
  j["predicted"] = row.predicted_us ? Json(*row.predicted_us) : Json();
  j["unit"] = "us";
  j["note"] = row.note;
  return j;
}

Json BlockJson(const BlockSummary& b) {
  return Json{
      {"block", b.block},
      {"chip", b.chip},
      {"timing", b.timing},
      {"runnable", b.runnable},
      {"ran", b.ran},
      {"mean_error", b.mean},
      {"median_error", b.median},
      {"p90_error", b.p90},
      {"bias", b.bias},
      {"roofline_mean_error",
       b.roofline_mean ? Json(*b.roofline_mean) : Json()},
      {"roofline",
       {{"t0_us", b.roofline.t0_us},
        {"flops_per_us", b.roofline.flops_per_us},
        {"bytes_per_us", b.roofline.bytes_per_us}}},
      {"napkin_mean_error", b.napkin_mean ? Json(*b.napkin_mean) : Json()}};
}

std::string JsonText(const driver::Validation& validation,
                     const driver::ValidationSummary& summary,
                     const std::string& exceeded) {
  Json rows = Json::array(), blocks = Json::array();
  for (const ValidatedRow& row : validation.rows) rows.push_back(RowJson(row));
  for (const BlockSummary& b : summary.blocks) blocks.push_back(BlockJson(b));
  return Json{{"schema_version", reports::kJsonSchemaVersion},
              {"rows", std::move(rows)},
              {"summary",
               {{"runnable", summary.runnable},
                {"ran", summary.ran},
                {"mean_error", summary.mean},
                {"blocks", std::move(blocks)},
                {"exceeded", exceeded}}}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

struct ValidateOptions {
  std::string kernels, split, compiler, schedules;
  Words ids, limit_words;
  bool explain = false, mechanisms = false;
  bool json = false, all_rows = false, markdown = false, memory = false;
  driver::ValidationOptions options;
  driver::ParityOptions parity;  // of a table of --compiler
  driver::LibtpuOptions libtpu;  // of --compiler=libtpu
};

void AddOptions(CLI::App* app, ValidateOptions* o) {
  app->add_option("--kernels", o->kernels, "a CSV of timed kernels")
      ->type_name("CSV");
  app->add_option(
         "--row", o->ids,
         "only rows (programs of --compiler) whose name begins so; repeatable")
      ->type_name("ID");
  app->add_flag("--explain", o->explain,
                "with --row: its ops, and why the longest takes its time");
  app->add_option(
         "--compiler", o->compiler,
         "a CSV of what the TPU compiler decided: where ours differs; "
         "or libtpu: it schedules the rows of --kernels (needs jax and "
         "libtpu)")
      ->type_name("CSV");
  app->add_option("--python", o->libtpu.python, "of --compiler=libtpu")
      ->type_name("PATH")
      ->capture_default_str();
  app->add_option("--compiler-cache", o->libtpu.cache,
                  "of --compiler=libtpu: what was compiled before")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_option(
         "--schedules", o->schedules,
         "a CSV of bundle counts of the TPU compiler's schedules: ours "
         "beside them, as Markdown; --rows adds every program")
      ->type_name("CSV");
  app->add_option("--programs", o->parity.programs,
                  "of --compiler: the folder of its programs (default: "
                  "../programs beside the CSV)")
      ->type_name("DIR");
  app->add_flag("--mechanisms", o->mechanisms,
                "errors with each mechanism of the model taken out; Markdown");
  app->add_flag("--rows", o->all_rows, "one line per row, the worst last");
  app->add_option("--max-error", o->limit_words,
                  "exit 1 if the mean error of a block is larger")
      ->type_name("BLOCK=PCT");
  app->add_option("--split", o->split,
                  "odd: judge the odd rows, floors fitted on the even "
                  "ones; the model's own constants stay those of the chips")
      ->check(CLI::IsMember({"odd"}));
  app->add_option("--disable-passes", o->options.disable_passes,
                  "passes to leave out, to see what they are worth")
      ->delimiter(',')
      ->type_name("A,B");
  app->add_flag("--verify", o->options.verify,
                "prove of every program that it keeps to the chip's registers, "
                "memories and slots");
  app->add_option("--threads", o->options.threads, "rows at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  auto* json = app->add_flag("--json", o->json, "one JSON object");
  app->add_flag("--markdown", o->markdown, "the table of blocks as Markdown")
      ->excludes(json);
  app->add_flag(
      "--memory", o->memory,
      "with --compiler: bytes and kernels of each program as Markdown");
}

int FailArguments(const ValidateOptions& o, absl::string_view what) {
  return Fail(absl::InvalidArgumentError(what), o.json, "arguments");
}

// Ours beside what a table says of the TPU compiler.
int CompareWithTable(ValidateOptions o) {
  o.parity.only = o.ids;
  o.parity.threads = o.options.threads;
  return CompareWithCompiler(o.compiler, o.parity,
                             o.json       ? ParityForm::kJson
                             : o.memory   ? ParityForm::kMemory
                             : o.markdown ? ParityForm::kMarkdown
                                          : ParityForm::kText);
}

// Those of the CSV that --row names, or all.
absl::StatusOr<std::vector<driver::MeasuredRow>> ChosenRows(
    const ValidateOptions& o) {
  ASSIGN_OR_RETURN(std::vector<driver::MeasuredRow> rows,
                   driver::ReadMeasuredRows(o.kernels));
  if (o.ids.empty()) return rows;
  std::vector<driver::MeasuredRow> chosen;
  for (driver::MeasuredRow& row : rows) {
    const bool named = std::any_of(
        o.ids.begin(), o.ids.end(),
        [&](const std::string& id) { return row.id.rfind(id, 0) == 0; });
    if (named) chosen.push_back(std::move(row));
  }
  if (chosen.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no row ", o.ids[0], " in ", o.kernels));
  }
  return chosen;
}

// A gate on a block that is not there would never close.
absl::Status CheckBlocks(const std::vector<driver::MeasuredRow>& rows,
                         const std::vector<Limit>& limits) {
  std::set<std::string> blocks;
  for (const driver::MeasuredRow& row : rows) blocks.insert(row.block);
  for (const Limit& limit : limits) {
    if (blocks.count(limit.block) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--max-error: no block ", limit.block,
                     " among the rows: ", absl::StrJoin(blocks, ", ")));
  }
  return absl::OkStatus();
}

// Every row's error, the blocks' and what --max-error says of them.
int PrintErrors(const ValidateOptions& o,
                const std::vector<driver::MeasuredRow>& rows,
                const std::vector<Limit>& limits) {
  driver::SummaryOptions summary_options;
  summary_options.split_odd = o.split == "odd";
  const driver::Validation validation =
      WithProgress([&] { return driver::Validate(rows, o.options); });
  const auto summary = driver::Summarise(validation, summary_options);
  const std::string exceeded = Exceeded(summary, limits);
  std::string out;
  if (o.json) {
    out = JsonText(validation, summary, exceeded);
  } else if (o.markdown) {
    out = driver::SummaryMarkdown(summary);
  } else {
    if (o.all_rows || !o.ids.empty()) out = driver::RowsText(validation);
    out += driver::SummaryText(summary) + exceeded;
  }
  std::fputs(out.c_str(), stdout);
  return exceeded.empty() ? driver::kExitDone : driver::kExitVerdict;
}

int ValidateKernels(const ValidateOptions& o) {
  const auto limits = ParseLimits(o.limit_words);
  if (!limits.ok()) return Fail(limits.status(), o.json, "arguments");
  const auto passes =
      hlo::Pipeline::FromNames(absl::StrJoin(o.options.disable_passes, ","));
  if (!passes.ok()) return Fail(passes.status(), o.json, "arguments");
  const auto rows = ChosenRows(o);
  if (!rows.ok()) return Fail(rows.status(), o.json, "input");
  if (const absl::Status blocks = CheckBlocks(*rows, *limits); !blocks.ok()) {
    return Fail(blocks, o.json, "arguments");
  }
  if (o.mechanisms) {
    const auto measured = WithProgress(
        [&] { return driver::MeasureMechanisms(*rows, o.options); });
    std::fputs(driver::MechanismMarkdown(measured).c_str(), stdout);
    return driver::kExitDone;
  }
  if (o.explain) {
    if (o.ids.size() != 1) {
      return FailArguments(o, "--explain needs one --row ID");
    }
    return ExplainValidatedRow(*rows, o.ids[0], o.options, o.json);
  }
  return PrintErrors(o, *rows, *limits);
}

}  // namespace

int ValidateCommand(const Words& words) {
  ValidateOptions o;
  o.libtpu.cache = CompilerCacheFolder();
  CLI::App app("Compare predictions with published measurements.",
               "ptxla-sim validate");
  AddOptions(&app, &o);
  app.footer(kValidateExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  for (const char* option : {"--python", "--compiler-cache"}) {
    if (app.count(option) > 0 && o.compiler != "libtpu") {
      return FailArguments(
          o, absl::StrCat(option, " goes with --compiler=libtpu only"));
    }
  }
  if (o.compiler == "libtpu") {
    auto found = driver::LibtpuCompiler::Find(o.libtpu);
    if (!found.ok()) return Fail(found.status(), o.json, "arguments");
    o.options.threads = 1;  // libtpu refuses a second process
    o.options.libtpu =
        std::make_shared<driver::LibtpuCompiler>(*std::move(found));
  } else if (!o.compiler.empty()) {
    return CompareWithTable(std::move(o));
  }
  if (!o.schedules.empty()) {
    return CompareWithSchedules(o.schedules, o.ids.empty() ? "" : o.ids[0],
                                o.options.threads, o.all_rows);
  }
  if (o.kernels.empty()) {
    return FailArguments(
        o, "validate needs --kernels, --compiler or --schedules CSV");
  }
  return ValidateKernels(o);
}

}  // namespace ptxla::tools

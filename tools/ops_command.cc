// ptxla-sim ops: how far each HLO opcode gets, found out by trying it.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "driver/op_coverage.h"
#include "reports/format.h"
#include "reports/json_report.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace ptxla::tools {
namespace {

using driver::OpSupport;
using driver::OpTrial;
using Json = nlohmann::ordered_json;

constexpr char kOpsExamples[] = R"(
Columns:
  read        the parser and the verifier take a sample of it
  evaluated   ptxla-opt eval computes it
  tpu         kernel: bundles are made for it; schedule: a collective, a copy or
              a loop; free: no work; estimate: only with --unknown-ops=estimate,
              as a roofline time that reports mark; refused: exit code 5

Examples:
  ptxla-sim ops                 all opcodes
  ptxla-sim ops scatter         one, with the sample and the reasons
  ptxla-sim ops --chip v5p --json
)";

const char* YesNo(const std::string& error) {
  return error.empty() ? "yes" : "-";
}

std::string Table(const std::vector<OpTrial>& trials) {
  std::string out = "opcode                      read  evaluated  tpu\n";
  int kernels = 0, free = 0, evaluated = 0;
  for (const OpTrial& t : trials) {
    absl::StrAppend(&out, reports::PadRight(t.name, 28),
                    reports::PadRight(YesNo(t.read_error), 6),
                    reports::PadRight(YesNo(t.evaluate_error), 11),
                    driver::OpSupportName(t.tpu), "\n");
    kernels += t.tpu == OpSupport::kKernel;
    free += t.tpu == OpSupport::kFree || t.tpu == OpSupport::kSchedule;
    evaluated += t.read_error.empty() && t.evaluate_error.empty();
  }
  absl::StrAppend(&out, trials.size(), " opcodes: ", evaluated, " evaluated, ",
                  kernels, " with a kernel, ", free,
                  " in the schedule or free\n");
  return out;
}

std::string Details(const OpTrial& t) {
  std::string out = absl::StrCat(t.name, "\n  sample     ", t.sample, "\n");
  const auto line = [&](const char* key, const std::string& value,
                        const std::string& reason) {
    absl::StrAppend(&out, "  ", reports::PadRight(key, 11), value,
                    reason.empty() ? "" : absl::StrCat(": ", reason), "\n");
  };
  line("read", YesNo(t.read_error), t.read_error);
  line("evaluated", YesNo(t.evaluate_error), t.evaluate_error);
  line("tpu", driver::OpSupportName(t.tpu), t.tpu_error);
  return out;
}

Json OrNull(const std::string& reason) {
  return reason.empty() ? Json(nullptr) : Json(reason);
}

std::string JsonText(const std::vector<OpTrial>& trials,
                     const std::string& chip) {
  Json ops = Json::array();
  for (const OpTrial& t : trials) {
    ops.push_back(
        Json{{"opcode", t.name},
             {"sample", t.sample},
             {"read", t.read_error.empty()},
             {"read_error", OrNull(t.read_error)},
             {"evaluated", t.read_error.empty() && t.evaluate_error.empty()},
             {"evaluate_error", OrNull(t.evaluate_error)},
             {"tpu", driver::OpSupportName(t.tpu)},
             {"tpu_error", OrNull(t.tpu_error)}});
  }
  return Json{{"schema_version", reports::kJsonSchemaVersion},
              {"chip", chip},
              {"ops", std::move(ops)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace

int OpsCommand(const Words& words) {
  std::string name, chip = "v5e";
  bool json = false;
  CLI::App app(
      "How far each HLO opcode gets. Nothing is a list: every opcode is tried.",
      "ptxla-sim ops");
  app.add_option("name", name, "one opcode in detail")->type_name("OPCODE");
  app.add_option("--chip", chip, "whose compiler to ask")
      ->type_name("CHIP")
      ->capture_default_str();
  app.add_flag("--json", json, "one JSON object");
  app.footer(kOpsExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  const auto trials = driver::OpCoverage(chip, name);
  if (!trials.ok()) return Fail(trials.status(), json, "arguments");
  std::string text;
  if (json) {
    text = JsonText(*trials, chip);
  } else {
    text = name.empty() ? Table(*trials) : Details(trials->front());
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace ptxla::tools

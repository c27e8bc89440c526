// ptxla-sim inspect: what an HLO file asks of a chip.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "chips/chip_spec.h"
#include "driver/inspect.h"
#include "reports/format.h"
#include "reports/json_report.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace ptxla::tools {
namespace {

using driver::InspectedOp;
using driver::Inspection;
using Json = nlohmann::ordered_json;

constexpr char kExamples[] = R"(
Examples:
  ptxla-sim inspect module.hlo
  ptxla-sim inspect - --chip v6e --json < module.hlo
)";

std::string Row(const std::string& name, const InspectedOp& op, double total) {
  return absl::StrFormat(
      "  %-24s %7d %12s %12s %10s %9s %7s%s\n", name, op.count,
      reports::Significant(op.flops / 1e9, 4),
      reports::Significant(op.bytes / 1e6, 4),
      op.bytes > 0 ? reports::Significant(op.flops / op.bytes, 3) : "-",
      reports::Significant(op.roofline_s * 1e6, 4),
      total > 0 ? reports::Percent(op.roofline_s / total) : "-",
      op.unknown_cost ? "  cost not known" : "");
}

std::string Text(const Inspection& i, const chips::ChipSpec& chip) {
  std::string out = absl::StrCat(
      i.module, ": ", i.instructions, " instructions in ", i.computations,
      " computations", i.scheduled ? ", scheduled" : "", ", ", i.devices,
      i.devices == 1 ? " device" : " devices", "\n  ", i.parameters,
      " parameters, ", reports::ByteSize(i.parameter_bytes), "; result ",
      reports::ByteSize(i.output_bytes), "\n");
  absl::StrAppendFormat(&out, "  %-24s %7s %12s %12s %10s %9s %7s\n",
                        absl::StrCat("entry, roofline of ", chip.name()),
                        "count", "GFLOP", "MB", "flop/byte", "us", "share");
  for (const InspectedOp& op : i.rows) {
    out += Row(op.opcode, op, i.total.roofline_s);
  }
  return out + Row("total", i.total, i.total.roofline_s);
}

Json OpJson(const InspectedOp& op) {
  return Json{{"opcode", op.opcode},
              {"count", op.count},
              {"flops", op.flops},
              {"transcendentals", op.transcendentals},
              {"bytes", op.bytes},
              {"roofline_s", op.roofline_s},
              {"cost_known", !op.unknown_cost}};
}

std::string JsonText(const Inspection& i, const chips::ChipSpec& chip) {
  Json rows = Json::array();
  for (const InspectedOp& op : i.rows) rows.push_back(OpJson(op));
  Json total = OpJson(i.total);
  total.erase("opcode");
  return Json{{"schema_version", reports::kJsonSchemaVersion},
              {"module", i.module},
              {"chip", chip.name()},
              {"computations", i.computations},
              {"instructions", i.instructions},
              {"devices", i.devices},
              {"is_scheduled", i.scheduled},
              {"parameters", i.parameters},
              {"parameter_bytes", i.parameter_bytes},
              {"output_bytes", i.output_bytes},
              {"ops", std::move(rows)},
              {"total", std::move(total)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace

int InspectCommand(const Words& words) {
  std::string path, chip_name = "v5e";
  bool json = false;
  CLI::App app("Operators and cost of an HLO file, before any simulation.",
               "ptxla-sim inspect");
  app.add_option(
         "file", path,
         "HLO text, a proto, StableHLO, a folder of --xla_dump_to, or -")
      ->type_name("FILE");
  app.add_option("--chip", chip_name, "whose roofline to use")
      ->type_name("CHIP")
      ->capture_default_str();
  app.add_flag("--json", json, "one JSON object");
  app.footer(kExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (path.empty()) {
    return Fail(absl::InvalidArgumentError("inspect needs a file, or -"), json,
                "arguments");
  }
  const auto chip = chips::ChipSpec::Load(chip_name);
  if (!chip.ok()) return Fail(chip.status(), json, "arguments");
  const auto inspection = driver::Inspect(path, *chip);
  if (!inspection.ok()) return Fail(inspection.status(), json, "inspect");
  std::fputs(
      (json ? JsonText(*inspection, *chip) : Text(*inspection, *chip)).c_str(),
      stdout);
  return 0;
}

}  // namespace ptxla::tools

// ptxla-sim workloads: what can be run by name.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/text_proto.h"
#include "reports/format.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "workloads/spec.h"

namespace ptxla::tools {
namespace {

constexpr char kWorkloadsExamples[] = R"(
Examples:
  ptxla-sim workloads           names and descriptions
  ptxla-sim workloads bert      every field, to change with run --set KEY=VALUE
)";

}  // namespace

int WorkloadsCommand(const Words& words) {
  std::string name;
  CLI::App app("List the workloads that are known.", "ptxla-sim workloads");
  app.add_option("name", name, "one workload in detail")->type_name("NAME");
  app.footer(kWorkloadsExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (!name.empty()) {
    const auto spec = workloads::FindWorkload(name);
    if (!spec.ok()) return Fail(spec.status(), false, "arguments");
    std::fputs(PrintTextProto(*spec).c_str(), stdout);
    return 0;
  }
  for (const std::string& known : workloads::WorkloadNames()) {
    const auto spec = workloads::FindWorkload(known);
    if (!spec.ok()) return Fail(spec.status(), false, "arguments");
    const std::string batch =
        spec->global_batch() > 0
            ? absl::StrCat(spec->global_batch(), " global")
            : absl::StrCat(spec->batch_per_chip(), " per chip");
    std::printf("%s\n", absl::StrCat(reports::PadRight(known, 12),
                                     reports::PadRight(spec->description(), 48),
                                     reports::PadRight(batch, 14),
                                     spec->dtype(), ", ", spec->optimizer())
                            .c_str());
  }
  return 0;
}

}  // namespace ptxla::tools

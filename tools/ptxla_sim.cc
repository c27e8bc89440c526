// ptxla-sim: one command with subcommands; `run` is the default.
#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/suggest.h"
#include "driver/prediction.h"
#include "driver/stage.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/interrupt.h"

namespace ptxla::tools {
namespace {

std::string Help() {
  std::string text =
      "ptxla-sim predicts, without a TPU, how long a PyTorch/XLA program takes "
      "on one:\nstep time, what bounds it, memory, compile time and cost.\n\n"
      "Usage: ptxla-sim [run] --workload NAME | --hlo FILE --topology SLICE "
      "[options]\n       ptxla-sim COMMAND [options]\n\nCommands:\n";
  for (const Command& c : Commands()) {
    absl::StrAppend(&text, "  ", c.name,
                    std::string(12 - std::string(c.name).size(), ' '),
                    c.summary, "\n");
  }
  absl::StrAppend(
      &text,
      "\nptxla-sim COMMAND --help has each command's options and examples.\n"
      "  --version   print the version\n\nExamples:\n"
      "  ptxla-sim --workload bert --topology v5e-8\n"
      "  ptxla-sim run --hlo layer_norm.hlo --topology v6e-1 --json\n"
      "  ptxla-sim chips\n\n"
      "Exit codes: 0 done, 1 a verdict (validate --max-error), 2 usage or "
      "input,\n"
      "3 does not fit, 4 internal error, "
      "5 valid but unsupported,\n130 interrupted (nothing is saved).\n");
  return text;
}

int Main(std::vector<std::string> words) {
  InstallInterruptHandler("\nptxla-sim: interrupted; no run was saved\n");
  if (words.empty() || words[0] == "--help" || words[0] == "-h" ||
      words[0] == "help") {
    std::fputs(Help().c_str(), stdout);
    return words.empty() ? driver::kExitUsage : driver::kExitDone;
  }
  if (words[0] == "--version") {
    std::printf("ptxla-sim %s\n", driver::Version());
    return driver::kExitDone;
  }
  if (absl::StartsWith(words[0], "-")) return Commands()[0].run(words);
  std::vector<std::string> names;
  for (const Command& c : Commands()) {
    if (words[0] == c.name) {
      return c.run({words.begin() + 1, words.end()});
    }
    names.push_back(c.name);
  }
  const absl::Status unknown = UnknownName("command", words[0], names);
  return Fail(absl::InvalidArgumentError(unknown.message()), WantsJson(words),
              "arguments");
}

}  // namespace
}  // namespace ptxla::tools

int main(int argc, char** argv) {
  // A run makes and drops whole modules: what they leave is kept for the next.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
  return ptxla::tools::Main({argv + 1, argv + argc});
}

// What the commands share: parsing with suggestions, and errors as one line on
// stderr or as JSON on stdout.
#ifndef PTXLA_TOOLS_COMMAND_LINE_H_
#define PTXLA_TOOLS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/progress.h"

namespace ptxla::tools {

// Parses the words after the command's name. An exit code if there is nothing
// more to do: 0 after --help, 2 after an error, which has been printed.
// `program` is "ptxla-sim run".
std::optional<int> ParseCommandLine(CLI::App* app,
                                    const std::vector<std::string>& words);

// Of options: "--steps: must be at least 1", "--explain: must not be empty".
CLI::Validator AtLeastOne();
CLI::Validator NotEmpty();

// True if --json is among the words: errors in parsing are JSON then, too.
bool WantsJson(const std::vector<std::string>& words);

// Prints the error and returns its exit code. `where` is the stage if the
// status does not say.
int Fail(const absl::Status& status, bool json, absl::string_view where);

// What `work` returns; a line on stderr tells how far it is once that takes
// long (base/progress.h).
template <typename Work>
auto WithProgress(const Work& work) {
  const ProgressReporter reporter(stderr);
  return work();
}

// Where programs keep what they can make again: "~/.cache/ptxla-sim/libtpu".
std::string CompilerCacheFolder();

}  // namespace ptxla::tools

#endif  // PTXLA_TOOLS_COMMAND_LINE_H_

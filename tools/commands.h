// The subcommands of ptxla-sim. Each takes the words after its name and
// returns the exit code.
#ifndef PTXLA_TOOLS_COMMANDS_H_
#define PTXLA_TOOLS_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::tools {

using Words = std::vector<std::string>;

int RunCommand(const Words& words);
int InspectCommand(const Words& words);
int CompareCommand(const Words& words);
int ChipsCommand(const Words& words);
int ValidateCommand(const Words& words);
int WorkloadsCommand(const Words& words);
int OpsCommand(const Words& words);

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Words&);
};
// In the order of --help; the first is the default.
absl::Span<const Command> Commands();

}  // namespace ptxla::tools

#endif  // PTXLA_TOOLS_COMMANDS_H_

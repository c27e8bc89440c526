#include "tools/commands.h"

namespace ptxla::tools {
namespace {

constexpr Command kCommands[] = {
    {"run", "predict one run (the default)", RunCommand},
    {"inspect", "cost and operators of an HLO file", InspectCommand},
    {"compare", "one program as two compilers schedule it", CompareCommand},
    {"validate", "predicted against measured", ValidateCommand},
    {"chips", "what chips and slices are known", ChipsCommand},
    {"workloads", "what can be run by name", WorkloadsCommand},
    {"ops", "which HLO opcodes are supported, and how", OpsCommand},
};

}  // namespace

absl::Span<const Command> Commands() { return kCommands; }

}  // namespace ptxla::tools

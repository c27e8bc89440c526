// Ctrl-C: one line, exit code 130. A run is one transaction and files are
// renamed into place, so nothing half-written is left.
#ifndef PTXLA_TOOLS_INTERRUPT_H_
#define PTXLA_TOOLS_INTERRUPT_H_

namespace ptxla::tools {

// `said`: the line, between two line ends; it must stay.
void InstallInterruptHandler(const char* said);

}  // namespace ptxla::tools

#endif  // PTXLA_TOOLS_INTERRUPT_H_

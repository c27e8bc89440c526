#include "tools/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "driver/stage.h"

namespace ptxla::tools {
namespace {

extern "C" void OnInterrupt(int) {
  constexpr char kText[] = "\nptxla-sim: interrupted; no run was saved\n";
  // A signal handler may call little more than write and _exit.
  const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  (void)written;
  _exit(driver::kExitInterrupted);
}

}  // namespace

void InstallInterruptHandler() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

}  // namespace ptxla::tools

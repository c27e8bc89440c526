#include "tools/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "driver/stage.h"

namespace ptxla::tools {
namespace {

const char* line = "";

extern "C" void OnInterrupt(int) {
  // A signal handler may call little more than write and _exit.
  const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  (void)written;
  _exit(driver::kExitInterrupted);
}

}  // namespace

void InstallInterruptHandler(const char* said) {
  line = said;
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

}  // namespace ptxla::tools

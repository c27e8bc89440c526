// What kernels are made from a program's text.
#ifndef PTXLA_TESTS_END_TO_END_SCHEDULED_ENTRY_H_
#define PTXLA_TESTS_END_TO_END_SCHEDULED_ENTRY_H_

#include <filesystem>
#include <string>

#include "base/files.h"
#include "driver/prediction.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {

// The entry of the scheduled module; "" and a failure if there is none.
// `verify`: its values are right.
inline std::string ScheduledEntry(const std::string& text, bool verify = false,
                                  const std::string& topology = "v5e-1") {
  const testing::TemporaryFolder folder;
  RunRequest request;
  request.topology = topology;
  request.assumed_effects = false;
  request.verify = verify;
  request.hlo = folder.Write("m.hlo", text);
  request.dump_to = folder.path() + "/dump";
  const auto done = Predict(request);
  EXPECT_OK(done.status());
  if (!done.ok()) return "";
  for (const auto& entry :
       std::filesystem::directory_iterator(request.dump_to)) {
    const std::string path = entry.path().string();
    if (path.find(".scheduled.hlo") == std::string::npos) continue;
    const auto dumped = ReadFile(path);
    EXPECT_OK(dumped.status());
    return dumped->substr(dumped->find("\nENTRY"));
  }
  ADD_FAILURE() << "nothing was scheduled";
  return "";
}

}  // namespace ptxla::driver

#endif  // PTXLA_TESTS_END_TO_END_SCHEDULED_ENTRY_H_

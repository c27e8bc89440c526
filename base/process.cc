#include "base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/check.h"

extern char** environ;

namespace ptxla {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string Contents(std::FILE* file) {
  std::string all;
  std::rewind(file);
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) {
    all.append(part, n);
  }
  return all;
}

}  // namespace

absl::StatusOr<ProcessResult> RunProcess(
    const std::vector<std::string>& command) {
  CHECK(!command.empty());
  // Files, not pipes: nobody waits for anybody however much is written.
  const File output(std::tmpfile(), std::fclose);
  const File errors(std::tmpfile(), std::fclose);
  if (output == nullptr || errors == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot make a temporary file: ", std::strerror(errno)));
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, fileno(output.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, fileno(errors.get()), STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  pid_t child;
  const int failed =
      posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return absl::NotFoundError(absl::StrCat("cannot run \"", command[0],
                                            "\": ", std::strerror(failed)));
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0) {
    if (errno == EINTR) continue;
    return absl::InternalError(absl::StrCat("waiting for \"", command[0],
                                            "\": ", std::strerror(errno)));
  }
  ProcessResult result;
  result.exit_code =
      WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.output = Contents(output.get());
  result.errors = Contents(errors.get());
  return result;
}

}  // namespace ptxla

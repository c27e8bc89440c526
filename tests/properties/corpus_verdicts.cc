// What every complete program of the shared corpus comes to: whether it runs,
// on which slice, and how much of the HBM it takes there. A program that is
// refused after a change, or takes more memory, edits the file beside this one.
//
//   corpus_verdicts            compares; prints what differs; exit 1
//   corpus_verdicts --update   writes baselines/corpus.csv anew
//
// Rows: program, verdict (FITS, MARGINAL, OOM, or the kind of error), the first
// slice of kSlices that it fits or else the first that it has devices on, peak
// bytes of HBM there. Rows stay as they are where the corpus does not lie
// beside the tree.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "driver/prediction.h"
#include "tests/properties/baseline_file.h"
#include "tests/support/shared_files.h"

namespace ptxla::testing {
namespace {

namespace fs = std::filesystem;

// By their HBM and their devices: models of one host, and what the largest of
// the corpus were partitioned for.
constexpr const char* kSlices[] = {"v5e-8", "v5p-16", "v5p-256", "v5p-1024"};

std::vector<std::string> Programs(const fs::path& corpus) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".hlo" || ending == ".mlir" || ending == ".pb") {
      files.push_back(fs::relative(entry.path(), corpus).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Verdict {
  std::string verdict, slice;
  int64_t bytes = 0;
};

Verdict VerdictOn(const std::string& path, const std::string& slice) {
  driver::RunRequest request;
  request.hlo = path;
  request.topology = slice;
  request.fidelity = "roofline";  // only the compiler's work counts
  request.assumed_effects = false;
  const auto p = driver::Predict(request);
  if (!p.ok()) return {absl::StatusCodeToString(p.status().code()), slice, 0};
  const record::RunRecord& record = p->record;
  const record::MemoryRecord& memory = record.memory();
  return {memory.verdict(), slice, memory.peak_bytes()};
}

Verdict VerdictOf(const std::string& path) {
  Verdict first;
  for (const char* slice : kSlices) {
    const Verdict v = VerdictOn(path, slice);
    if (v.verdict == "FITS" || v.verdict == "MARGINAL") return v;
    // Too many partitions, or too large: a larger slice may do.
    const bool larger = v.verdict == "OOM" || v.verdict == "INVALID_ARGUMENT";
    if (!larger) return v;
    if (first.slice.empty() || first.verdict == "INVALID_ARGUMENT") first = v;
  }
  return first;
}

int Main(bool update) {
  const auto found = SharedPath("hlo_corpus");
  if (!found.ok()) {
    std::printf("no corpus beside the tree: skipped\n");
    return 0;
  }
  const fs::path corpus = *found;
  BaselineFile file("corpus.csv", "program,verdict,slice,peak_bytes", 1);
  for (const std::string& program : Programs(corpus)) {
    const Verdict v = VerdictOf((corpus / program).string());
    file.Found(program, absl::StrCat(v.verdict, ",", v.slice, ",", v.bytes));
  }
  return file.Finish(update);
}

}  // namespace
}  // namespace ptxla::testing

int main(int argc, char** argv) {
  return ptxla::testing::Main(argc > 1 && std::string(argv[1]) == "--update");
}

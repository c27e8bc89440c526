// What libFuzzer starts from:
//
//   write_seeds CORPUS FILE...
//
// CORPUS/HloText, /Proto, /StableHlo and /AnyFile get the programs of damage.h
// and each FILE that is read and small, in the form that the reader takes;
// CORPUS/words.dict gets the words of the texts.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/input/module_file.h"
#include "tests/hlo_backend/fuzz/damage.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kLargest = 4000;  // larger ones slow each round

class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {
    for (const char* reader : {"HloText", "Proto", "StableHlo", "AnyFile"}) {
      std::filesystem::create_directories(folder_ + "/" + reader);
    }
  }

  void Add(const std::string& bytes) {
    auto file = ReadModule(bytes, "seed");
    if (!file.ok()) return;
    Write("AnyFile", bytes);
    if (file->format == FileFormat::kStableHloText) Write("StableHlo", bytes);
    if (file->format == FileFormat::kHloText) Write("HloText", bytes);
    Write("HloText", WriteModule(*file->module, FileFormat::kHloText));
    Write("Proto", WriteModule(*file->module, FileFormat::kModuleProto));
    Write("AnyFile", WriteModule(*file->module, FileFormat::kHloProto));
  }

  int count() const { return count_; }

  void WriteWords() const {
    std::ofstream out(folder_ + "/words.dict");
    for (const std::string& w : words_) out << '"' << w << "\"\n";
  }

 private:
  void Write(const char* reader, const absl::StatusOr<std::string>& bytes) {
    if (!bytes.ok() || bytes->size() > kLargest) return;
    std::ofstream(absl::StrCat(folder_, "/", reader, "/", count_++),
                  std::ios::binary)
        << *bytes;
    if (std::string(reader).find("Text") != std::string::npos ||
        std::string(reader) == "StableHlo") {
      AddWords(*bytes);
    }
  }

  void AddWords(const std::string& text) {
    std::string word;
    for (char c : text + " ") {
      if (absl::ascii_isalpha(c) || c == '_' || c == '-' ||
          (c == '.' && !word.empty())) {
        word += c;
        continue;
      }
      if (word.size() > 2 && word.size() < 32) words_.insert(word);
      word.clear();
    }
  }

  std::string folder_;
  std::set<std::string> words_;
  int count_ = 0;
};

}  // namespace
}  // namespace ptxla::hlo

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: write_seeds CORPUS FILE...\n");
    return 2;
  }
  ptxla::hlo::Seeds seeds(argv[1]);
  seeds.Add(ptxla::hlo::kHlo);
  seeds.Add(ptxla::hlo::kStableHlo);
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    seeds.Add(bytes.str());
  }
  seeds.WriteWords();
  std::printf("%d seeds\n", seeds.count());
  return seeds.count() > 0 ? 0 : 1;
}

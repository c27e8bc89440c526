#include "tests/properties/baseline_file.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files.h"

namespace ptxla::testing {
namespace {

constexpr char kAbsent[] = "absent";

// "  (+3.1 %)", of the first number of both, if they are numbers.
std::string Change(const std::string& before, const std::string& after) {
  const double a = std::atof(before.c_str()), b = std::atof(after.c_str());
  if (a <= 0 || b <= 0) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "  (%+.2f %%)", 100 * (b / a - 1));
  return text;
}

}  // namespace

BaselineFile::BaselineFile(const std::string& name, const std::string& header,
                           int keys)
    : path_(
          absl::StrCat(PTXLA_SOURCE_DIR, "/tests/properties/baselines/", name)),
      header_(header),
      text_(absl::StrCat(header, "\n")) {
  const auto text = ReadFile(path_);
  if (!text.ok()) return;
  const size_t columns =
      std::vector<std::string>(absl::StrSplit(header, ',')).size();
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<std::string> f = absl::StrSplit(line, ',');
    if (f.size() != columns || line == header) continue;
    old_[absl::StrJoin(f.begin(), f.begin() + keys, ",")] =
        absl::StrJoin(f.begin() + keys, f.end(), ",");
  }
}

void BaselineFile::Found(const std::string& key, const std::string& value) {
  const auto row = old_.find(key);
  const std::string before = row == old_.end() ? kAbsent : row->second;
  if (row != old_.end()) old_.erase(row);
  absl::StrAppend(&text_, key, ",", value, "\n");
  if (value == before) return;
  absl::StrAppend(&differences_, "- ", key, ",", before, "\n+ ", key, ",",
                  value, Change(before, value), "\n");
}

void BaselineFile::NotHere(const std::string& key) {
  const auto row = old_.find(key);
  if (row == old_.end()) return;
  absl::StrAppend(&text_, key, ",", row->second, "\n");
  old_.erase(row);
}

int BaselineFile::Finish(bool update) {
  for (const auto& [key, value] : old_) {
    absl::StrAppend(&differences_, "- ", key, ",", value, "\n");
  }
  if (differences_.empty()) {
    std::printf("%s: as recorded\n", path_.c_str());
    return 0;
  }
  std::fputs(differences_.c_str(), stdout);
  if (update) {
    const absl::Status written = WriteFile(path_, text_);
    if (written.ok()) return 0;
    std::fprintf(stderr, "%s\n", std::string(written.message()).c_str());
    return 1;
  }
  std::printf(
      "\nThese are not the values of %s.\n"
      "If the change is meant, run tests/properties/update_baselines and say "
      "in the commit why they moved.\n",
      path_.c_str());
  return 1;
}

}  // namespace ptxla::testing

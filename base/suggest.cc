#include "base/suggest.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla {

int EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

namespace {

// The first number in a name, as text.
absl::string_view NumberIn(absl::string_view name) {
  const auto is_digit = [](char c) { return absl::ascii_isdigit(c); };
  const auto begin = std::find_if(name.begin(), name.end(), is_digit);
  const auto end = std::find_if_not(begin, name.end(), is_digit);
  return name.substr(begin - name.begin(), end - begin);
}

// Another number is another thing (v7 is no v2), unless it was not finished.
bool AreNumberedAlike(absl::string_view a, absl::string_view b) {
  const absl::string_view x = NumberIn(a), y = NumberIn(b);
  return absl::StartsWith(x, y) || absl::StartsWith(y, x);
}

}  // namespace

std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known) {
  int best = std::max<int>(2, static_cast<int>(name.size()) / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    if (!AreNumberedAlike(name, candidate)) continue;
    const int distance = EditDistance(name, candidate);
    // Of equally near ones, what was begun and not finished: v5 is v5e.
    const bool goes_on = distance == best &&
                         absl::StartsWith(candidate, name) &&
                         !absl::StartsWith(nearest, name);
    if (distance < best || goes_on) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

absl::Status UnknownName(absl::string_view kind, absl::string_view name,
                         const std::vector<std::string>& known) {
  std::string message = absl::StrCat("unknown ", kind, " \"", name, "\"");
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) {
    absl::StrAppend(&message, "; did you mean \"", nearest, "\"?");
  } else {
    absl::StrAppend(&message, ";");
  }
  constexpr size_t kShown = 12;
  const size_t shown = std::min(known.size(), kShown);
  absl::StrAppend(&message, " known: ",
                  absl::StrJoin(known.begin(), known.begin() + shown, ", "),
                  known.size() > shown
                      ? absl::StrCat(" and ", known.size() - shown, " more")
                      : "");
  return absl::NotFoundError(message);
}

}  // namespace ptxla

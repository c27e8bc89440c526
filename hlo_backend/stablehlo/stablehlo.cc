#include "hlo_backend/stablehlo/stablehlo.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"
#include "hlo_backend/stablehlo/op_parser.h"

namespace ptxla::hlo {

absl::StatusOr<std::unique_ptr<Module>> ParseStableHlo(
    absl::string_view text, absl::string_view file_name,
    absl::Span<const int64_t> sizes) {
  // The scanner needs a NUL behind the text, the tree points into it.
  const std::string copy(text);
  mlir::OpParser parser{absl::string_view(copy)};
  mlir::Op module;
  if (!parser.ParseFile(&module)) {
    return file_name.empty() ? parser.status()
                             : absl::InvalidArgumentError(absl::StrCat(
                                   file_name, ":", parser.status().message()));
  }
  mlir::Converter converter(file_name, parser.location_aliases());
  converter.set_sizes(sizes);
  auto converted = converter.Convert(module);
  if (converted.ok() || file_name.empty()) return converted;
  return absl::Status(
      converted.status().code(),
      absl::StrCat(file_name, ":", converted.status().message()));
}

bool LooksLikeMlir(absl::string_view text) {
  const std::string copy(text.substr(0, 4096));
  mlir::Scanner s{absl::string_view(copy)};
  const char c = s.Peek();
  if (c == '#' || c == '!') {
    // `#loc = `; a comment of a text proto has a space there.
    s.Seek(s.at() + 1);
    absl::string_view word;
    return s.Here() != ' ' && s.Word(&word) && s.Is("=");
  }
  if (c == '"') {
    return s.Is("\"builtin.module\"") || s.Is("\"func.func\"") ||
           s.Is("\"stablehlo.") || s.Is("\"vhlo.");
  }
  absl::string_view word;
  if (!s.Word(&word)) return false;
  if (word == "module") return s.Is("@") || s.Is("{") || s.Is("attributes");
  return word == "builtin.module" || word == "func.func" ||
         (word == "func" && s.Is("@")) || word == "sdy.mesh";
}

}  // namespace ptxla::hlo

#include "hlo_backend/ir/parser.h"

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "hlo_backend/ir/module_parser.h"

namespace ptxla::hlo {
namespace {

template <class T, class Read>
absl::StatusOr<T> ParseWhole(absl::string_view text, Read read) {
  Reader reader(text);
  T value;
  if (!read(&reader, &value) || !reader.ExpectEnd()) return reader.status();
  return value;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(
    absl::string_view text, absl::string_view file_name) {
  ModuleParser parser(text);
  std::unique_ptr<Module> module = parser.Parse();
  if (module == nullptr) {
    if (file_name.empty()) return parser.status();
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ":", parser.status().message()));
  }
  module->set_file_name(std::string(file_name));
  return module;
}

absl::StatusOr<std::unique_ptr<Module>> ParseModuleFile(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseModule(text, path == "-" ? "<stdin>" : path);
}

absl::StatusOr<Sharding> ParseSharding(absl::string_view text) {
  return ParseWhole<Sharding>(
      text, [](Reader* r, Sharding* v) { return r->ShardingValue(v); });
}

absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text) {
  return ParseWhole<ReplicaGroups>(text, [](Reader* r, ReplicaGroups* v) {
    return r->ReplicaGroupsValue(v);
  });
}

absl::StatusOr<Window> ParseWindow(absl::string_view text) {
  return ParseWhole<Window>(
      text, [](Reader* r, Window* v) { return r->WindowValue(v); });
}

absl::StatusOr<ConvDims> ParseConvDims(absl::string_view text) {
  return ParseWhole<ConvDims>(
      text, [](Reader* r, ConvDims* v) { return r->ConvDimsValue(v); });
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text) {
  return ParseWhole<Literal>(text, [](Reader* r, Literal* v) {
    Shape shape;
    return r->ShapeValue(&shape) && r->LiteralValue(shape, v);
  });
}

}  // namespace ptxla::hlo

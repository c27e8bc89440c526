#include "hlo_backend/proto/layout_parts_proto.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/proto/shape_proto.h"

namespace ptxla::hlo {
namespace {

constexpr char kLevels[] = "DCSH";  // by their numbers

absl::Status Bad(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no part of a layout"));
}

absl::Status LevelsToProto(absl::string_view text, proto::LayoutProto* out) {
  absl::string_view list = text;
  if (!absl::ConsumePrefix(&list, "D(") || !absl::ConsumeSuffix(&list, ")")) {
    return Bad(text);
  }
  bool marked = false;
  for (absl::string_view level : absl::StrSplit(list, ',')) {
    level = absl::StripAsciiWhitespace(level);
    const bool ordered = !absl::ConsumeSuffix(&level, "~");
    const bool unique = !absl::ConsumeSuffix(&level, "+");
    const size_t number = absl::string_view(kLevels).find(level);
    if (level.size() != 1 || number == absl::string_view::npos) {
      return Bad(text);
    }
    out->add_dim_level_types(static_cast<proto::DimLevelType>(number));
    out->add_dim_unique(unique);
    out->add_dim_ordered(ordered);
    marked |= !unique || !ordered;
  }
  if (!marked) {
    out->clear_dim_unique();
    out->clear_dim_ordered();
  }
  return absl::OkStatus();
}

absl::Status SplitsToProto(absl::string_view text, proto::LayoutProto* out) {
  absl::string_view list = text;
  if (!absl::ConsumePrefix(&list, "SC(") || !absl::ConsumeSuffix(&list, ")")) {
    return Bad(text);
  }
  for (absl::string_view split : absl::StrSplit(list, ")(")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(split, absl::MaxSplits(':', 1));
    proto::SplitConfigProto* config = out->add_split_configs();
    int64_t number;
    if (!absl::SimpleAtoi(parts.first, &number)) return Bad(text);
    config->set_dimension(number);
    for (absl::string_view index : absl::StrSplit(parts.second, ',')) {
      if (!absl::SimpleAtoi(index, &number)) return Bad(text);
      config->add_split_indices(number);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LayoutPartsToProto(const Layout& layout, proto::LayoutProto* out) {
  const LayoutTexts& texts = layout.texts();
  if (!texts.dim_level_types.empty()) {
    RETURN_IF_ERROR(LevelsToProto(texts.dim_level_types, out));
  }
  if (!texts.split_configs.empty()) {
    RETURN_IF_ERROR(SplitsToProto(texts.split_configs, out));
  }
  if (!texts.physical_shape.empty()) {
    absl::string_view text = texts.physical_shape;
    if (!absl::ConsumePrefix(&text, "P(") || !absl::ConsumeSuffix(&text, ")")) {
      return Bad(texts.physical_shape);
    }
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(text));
    RETURN_IF_ERROR(ToProto(shape, out->mutable_physical_shape()));
  }
  return absl::OkStatus();
}

absl::Status LayoutPartsFromProto(const proto::LayoutProto& in,
                                  Layout* layout) {
  if (in.dim_level_types_size() > 0) {
    std::vector<std::string> levels;
    for (int d = 0; d < in.dim_level_types_size(); ++d) {
      const int number = in.dim_level_types(d);
      if (number < 0 || number >= 4) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension level type ", number, " is not known"));
      }
      levels.push_back(std::string(1, kLevels[number]));
      if (d < in.dim_unique_size() && !in.dim_unique(d)) levels.back() += "+";
      if (d < in.dim_ordered_size() && !in.dim_ordered(d)) levels.back() += "~";
    }
    layout->mutable_texts()->dim_level_types =
        absl::StrCat("D(", absl::StrJoin(levels, ","), ")");
  }
  for (const proto::SplitConfigProto& config : in.split_configs()) {
    std::string& text = layout->mutable_texts()->split_configs;
    absl::StrAppend(&text, text.empty() ? "SC(" : "(", config.dimension(), ":",
                    absl::StrJoin(config.split_indices(), ","), ")");
  }
  if (in.has_physical_shape()) {
    ASSIGN_OR_RETURN(const Shape shape, FromProto(in.physical_shape()));
    layout->mutable_texts()->physical_shape =
        absl::StrCat("P(", shape.ToStringWithLayout(), ")");
  }
  return absl::OkStatus();
}

}  // namespace ptxla::hlo

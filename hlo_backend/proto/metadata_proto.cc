#include "hlo_backend/proto/metadata_proto.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ptxla::hlo {

void ToProto(const Metadata& metadata, proto::OpMetadata* out) {
  out->set_op_type(metadata.op_type);
  out->set_op_name(metadata.op_name);
  out->set_source_file(metadata.source_file);
  out->set_source_line(static_cast<int32_t>(metadata.source_line));
  out->set_source_end_line(static_cast<int32_t>(metadata.source_end_line));
  out->set_source_column(static_cast<int32_t>(metadata.source_column));
  out->set_source_end_column(static_cast<int32_t>(metadata.source_end_column));
  out->set_stack_frame_id(static_cast<int32_t>(metadata.stack_frame_id));
  out->set_deduplicated_name(metadata.deduplicated_name);
  out->set_scheduling_name(metadata.scheduling_name);
  out->set_size_of_generated_code_in_bytes(
      metadata.size_of_generated_code_in_bytes);
  out->set_size_of_memory_working_set_in_bytes(
      metadata.size_of_memory_working_set_in_bytes);
  // "{1,3}".
  absl::string_view types = metadata.profile_type;
  if (absl::ConsumePrefix(&types, "{") && absl::ConsumeSuffix(&types, "}")) {
    for (absl::string_view word : absl::StrSplit(types, ',')) {
      int number;
      if (absl::SimpleAtoi(word, &number)) {
        out->add_profile_type(static_cast<proto::ProfileType>(number));
      }
    }
  }
}

Metadata FromProto(const proto::OpMetadata& in) {
  Metadata m;
  m.op_type = in.op_type();
  m.op_name = in.op_name();
  m.source_file = in.source_file();
  m.source_line = in.source_line();
  m.source_end_line = in.source_end_line();
  m.source_column = in.source_column();
  m.source_end_column = in.source_end_column();
  m.stack_frame_id = in.stack_frame_id();
  m.deduplicated_name = in.deduplicated_name();
  m.scheduling_name = in.scheduling_name();
  m.size_of_generated_code_in_bytes = in.size_of_generated_code_in_bytes();
  m.size_of_memory_working_set_in_bytes =
      in.size_of_memory_working_set_in_bytes();
  if (!in.profile_type().empty()) {
    m.profile_type =
        absl::StrCat("{", absl::StrJoin(in.profile_type(), ","), "}");
  }
  return m;
}

void ToProto(const StackFrameTables& tables, proto::StackFrameIndexProto* out) {
  for (const std::string& name : tables.files) out->add_file_names(name);
  for (const std::string& name : tables.functions) {
    out->add_function_names(name);
  }
  for (const StackFrameTables::Location& l : tables.locations) {
    auto* location = out->add_file_locations();
    location->set_file_name_id(static_cast<int32_t>(l.file));
    location->set_function_name_id(static_cast<int32_t>(l.function));
    location->set_line(static_cast<int32_t>(l.line));
    location->set_column(static_cast<int32_t>(l.column));
    location->set_end_line(static_cast<int32_t>(l.end_line));
    location->set_end_column(static_cast<int32_t>(l.end_column));
  }
  for (const StackFrameTables::Frame& f : tables.frames) {
    auto* frame = out->add_stack_frames();
    frame->set_file_location_id(static_cast<int32_t>(f.location));
    frame->set_parent_frame_id(static_cast<int32_t>(f.parent));
  }
}

StackFrameTables FromProto(const proto::StackFrameIndexProto& in) {
  StackFrameTables t;
  t.files.assign(in.file_names().begin(), in.file_names().end());
  t.functions.assign(in.function_names().begin(), in.function_names().end());
  for (const auto& l : in.file_locations()) {
    t.locations.push_back({l.file_name_id(), l.function_name_id(), l.line(),
                           l.column(), l.end_line(), l.end_column()});
  }
  for (const auto& f : in.stack_frames()) {
    t.frames.push_back({f.file_location_id(), f.parent_frame_id()});
  }
  return t;
}

absl::Status StatisticsToProto(const std::string& text,
                               proto::StatisticsViz* out) {
  absl::string_view body = text;
  if (!absl::ConsumePrefix(&body, "{") || !absl::ConsumeSuffix(&body, "}")) {
    return absl::InvalidArgumentError("statistics stand in braces");
  }
  for (absl::string_view word : absl::StrSplit(body, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    double value;
    if (!absl::SimpleAtod(pair.second, &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("statistics: \"", word, "\" is no name=number"));
    }
    if (pair.first == "visualizing_index") {
      out->set_stat_index_to_visualize(static_cast<int64_t>(value));
      continue;
    }
    proto::Statistic* statistic = out->add_statistics();
    statistic->set_stat_name(std::string(pair.first));
    statistic->set_stat_val(value);
  }
  return absl::OkStatus();
}

std::string StatisticsFromProto(const proto::StatisticsViz& in) {
  if (in.statistics().empty()) return "";
  std::string text =
      absl::StrCat("{visualizing_index=", in.stat_index_to_visualize());
  for (const proto::Statistic& s : in.statistics()) {
    absl::StrAppend(&text, ",", s.stat_name(), "=", s.stat_val());
  }
  return text + "}";
}

}  // namespace ptxla::hlo

#include "hlo_backend/ir/metadata.h"

#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ptxla::hlo {
namespace {

auto Fields(const Metadata& m) {
  return std::tie(m.op_type, m.op_name, m.source_file, m.source_line,
                  m.source_end_line, m.source_column, m.source_end_column,
                  m.stack_frame_id, m.deduplicated_name, m.scheduling_name,
                  m.profile_type, m.metadata_payload,
                  m.size_of_generated_code_in_bytes,
                  m.size_of_memory_working_set_in_bytes);
}

}  // namespace

bool Metadata::empty() const { return *this == Metadata(); }

bool Metadata::operator==(const Metadata& o) const {
  return Fields(*this) == Fields(o);
}

std::string Metadata::ToString() const {
  std::string out = "{";
  auto separate = [&out] {
    if (out.size() > 1) out.push_back(' ');
  };
  auto text = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    separate();
    absl::StrAppend(&out, key, "=\"", absl::CEscape(value), "\"");
  };
  auto number = [&](const char* key, int64_t value) {
    if (value == 0) return;
    separate();
    absl::StrAppend(&out, key, "=", value);
  };
  auto raw = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    separate();
    absl::StrAppend(&out, key, "=", value);
  };
  text("op_type", op_type);
  text("op_name", op_name);
  text("source_file", source_file);
  number("source_line", source_line);
  number("source_end_line", source_end_line);
  number("source_column", source_column);
  number("source_end_column", source_end_column);
  raw("profile_type", profile_type);
  text("deduplicated_name", deduplicated_name);
  text("scheduling_name", scheduling_name);
  number("stack_frame_id", stack_frame_id);
  number("size_of_generated_code_in_bytes", size_of_generated_code_in_bytes);
  number("size_of_memory_working_set_in_bytes",
         size_of_memory_working_set_in_bytes);
  raw("metadata_payload", metadata_payload);
  out.push_back('}');
  return out;
}

}  // namespace ptxla::hlo

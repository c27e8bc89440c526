#include "workloads/spec.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "embed/workload_files.h"

namespace ptxla::workloads {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr absl::string_view kSuffix = ".workload.textproto";

struct Field {
  std::string path;
  Message* owner;
  const FieldDescriptor* field;
};

// All scalar fields of the spec and of its own model's message.
void ListFields(const std::string& prefix, absl::string_view model,
                Message* message, std::vector<Field>* fields) {
  const auto* descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* f = descriptor->field(i);
    const std::string path = absl::StrCat(prefix, f->name());
    if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      fields->push_back({path, message, f});
    } else if (f->name() == model) {
      ListFields(absl::StrCat(path, "."), model,
                 message->GetReflection()->MutableMessage(message, f), fields);
    }
  }
}

absl::Status BadValue(const Field& f, absl::string_view value,
                      absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "field ", f.path, ": expected ", wanted, ", got \"", value, "\""));
}

// Sets, or appends to a repeated field.
absl::Status Assign(const Field& f, absl::string_view value) {
  const auto* reflection = f.owner->GetReflection();
  const bool repeated = f.field->is_repeated();
  switch (f.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t number;
      if (!absl::SimpleAtoi(value, &number)) {
        return BadValue(f, value, "an integer");
      }
      repeated ? reflection->AddInt64(f.owner, f.field, number)
               : reflection->SetInt64(f.owner, f.field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      uint64_t number;
      if (!absl::SimpleAtoi(value, &number)) {
        return BadValue(f, value, "an integer that is not negative");
      }
      reflection->SetUInt64(f.owner, f.field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double number;
      if (!absl::SimpleAtod(value, &number)) {
        return BadValue(f, value, "a number");
      }
      reflection->SetDouble(f.owner, f.field, number);
      return absl::OkStatus();
    }
    default:
      CHECK(f.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) << f.path;
      repeated ? reflection->AddString(f.owner, f.field, std::string(value))
               : reflection->SetString(f.owner, f.field, std::string(value));
      return absl::OkStatus();
  }
}

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : kWorkloadFiles) {
    const absl::string_view name = file.name;
    names.emplace_back(name.substr(0, name.size() - kSuffix.size()));
  }
  return names;
}

absl::StatusOr<WorkloadSpec> FindWorkload(absl::string_view name) {
  for (const EmbeddedFile& file : kWorkloadFiles) {
    if (file.name != absl::StrCat(name, kSuffix)) continue;
    WorkloadSpec spec;
    RETURN_IF_ERROR(ParseTextProto(file.text, file.name, &spec));
    return spec;
  }
  return UnknownName("workload", name, WorkloadNames());
}

absl::Status SetField(absl::string_view assignment, WorkloadSpec* spec) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(assignment, absl::MaxSplits('=', 1));
  const auto [key, value] = parts;
  if (!absl::StrContains(assignment, '=') || key.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--set takes key=value, got \"", assignment, "\""));
  }
  std::vector<Field> fields;
  ListFields("", spec->model(), spec, &fields);
  const Field* found = nullptr;
  std::vector<std::string> known;
  for (const Field& f : fields) {
    known.push_back(f.path);
    if (f.path != f.field->name()) known.push_back(f.field->name());
    const bool exact = f.path == key;
    if (exact || (found == nullptr && f.field->name() == key)) found = &f;
    if (exact) break;
  }
  if (found == nullptr) {
    return UnknownName(absl::StrCat("field of workload ", spec->name()), key,
                       known);
  }
  if (found->path == "name" || found->path == "model") {
    return absl::InvalidArgumentError(
        absl::StrCat("field ", found->path,
                     " makes it another workload; choose it with --workload"));
  }
  if (found->field->is_repeated()) {
    found->owner->GetReflection()->ClearField(found->owner, found->field);
    for (absl::string_view part : absl::StrSplit(value, ',')) {
      RETURN_IF_ERROR(Assign(*found, part));
    }
  } else {
    RETURN_IF_ERROR(Assign(*found, value));
  }
  if (found->path == "global_batch") spec->clear_batch_per_chip();
  if (found->path == "batch_per_chip") spec->clear_global_batch();
  return absl::OkStatus();
}

}  // namespace ptxla::workloads

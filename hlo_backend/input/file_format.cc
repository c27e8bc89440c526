#include "hlo_backend/input/file_format.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "hlo_backend/input/decoded_proto.h"
#include "hlo_backend/input/gunzip.h"
#include "hlo_backend/stablehlo/stablehlo.h"

namespace ptxla::hlo {
namespace {

constexpr absl::string_view kBytecodeMagic = "ML\xefR";
// Files that say no more than this about themselves are looked at whole.
constexpr size_t kBeginning = 4096;

// The rest of the text behind space and comments of any of the formats.
absl::string_view SkipComments(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    const bool comment = absl::StartsWith(text, "//") ||
                         absl::StartsWith(text, "# ") ||
                         absl::StartsWith(text, "#\n");
    if (!comment) return text;
    const size_t end = text.find('\n');
    if (end == absl::string_view::npos) return "";
    text.remove_prefix(end);
  }
}

// By the first field of a text proto.
FileFormat TextProtoFormat(absl::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (absl::ascii_isalnum(text[end]) || text[end] == '_')) {
    ++end;
  }
  const absl::string_view field = text.substr(0, end);
  text = absl::StripLeadingAsciiWhitespace(text.substr(end));
  if (text.empty() || (text[0] != ':' && text[0] != '{')) {
    return FileFormat::kUnknown;
  }
  if (field == "hlo") return FileFormat::kSnapshotTextProto;
  if (field == "hlo_module" || field == "buffer_assignment") {
    return FileFormat::kHloTextProto;
  }
  for (absl::string_view f : {"name", "entry_computation_name", "computations",
                              "host_program_shape", "id"}) {
    // `name {` would be a computation of HLO text.
    if (field == f &&
        (text[0] == ':' || f == "computations" || f == "host_program_shape")) {
      return FileFormat::kModuleTextProto;
    }
  }
  return FileFormat::kUnknown;
}

bool HasBinary(absl::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < 0x20 && !absl::ascii_isspace(c);
  });
}

}  // namespace

const char* FormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kHloText:
      return "HLO text";
    case FileFormat::kStableHloText:
      return "StableHLO text";
    case FileFormat::kModuleProto:
      return "HloModuleProto";
    case FileFormat::kHloProto:
      return "HloProto";
    case FileFormat::kSnapshot:
      return "HloSnapshot";
    case FileFormat::kModuleTextProto:
      return "HloModuleProto as text";
    case FileFormat::kHloTextProto:
      return "HloProto as text";
    case FileFormat::kSnapshotTextProto:
      return "HloSnapshot as text";
    case FileFormat::kGzip:
      return "gzip";
    case FileFormat::kMlirBytecode:
      return "MLIR bytecode";
    case FileFormat::kJaxExport:
      return "jax.export file";
    case FileFormat::kUnknown:
      break;
  }
  return "unknown";
}

FileFormat DetectFormat(absl::string_view bytes) {
  if (IsGzip(bytes)) return FileFormat::kGzip;
  if (absl::StartsWith(bytes, kBytecodeMagic)) return FileFormat::kMlirBytecode;
  if (HasBinary(bytes.substr(0, kBeginning))) {
    const FileFormat format = Decode(bytes).format;
    if (format != FileFormat::kUnknown) return format;
    // A FlatBuffer around bytecode.
    if (absl::StrContains(bytes.substr(0, kBeginning), kBytecodeMagic)) {
      return FileFormat::kJaxExport;
    }
    return FileFormat::kUnknown;
  }
  const absl::string_view text = SkipComments(bytes);
  if (LooksLikeMlir(text)) return FileFormat::kStableHloText;
  const FileFormat format = TextProtoFormat(text);
  if (format != FileFormat::kUnknown) return format;
  // A short binary proto can be without any control character.
  if (!absl::StartsWith(text, "HloModule")) {
    const FileFormat binary = Decode(bytes).format;
    if (binary != FileFormat::kUnknown) return binary;
  }
  return FileFormat::kHloText;
}

}  // namespace ptxla::hlo

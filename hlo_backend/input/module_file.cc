#include "hlo_backend/input/module_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "hlo_backend/input/gunzip.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/proto/literal_proto.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"

namespace ptxla::hlo {
namespace {

constexpr absl::string_view kBytecodeMagic = "ML\xefR";
// Files that say no more than this about themselves are looked at whole.
constexpr size_t kBeginning = 4096;
constexpr int kMaxGzipNesting = 3;

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

bool HasInstructions(const proto::HloModuleProto& m) {
  return m.computations_size() > 0 && m.computations(0).instructions_size() > 0;
}

// Which of the messages has instructions where it should.
struct Decoded {
  FileFormat format = FileFormat::kUnknown;
  proto::HloModuleProto module;
  std::vector<proto::LiteralProto> arguments;
};

Decoded Decode(absl::string_view bytes) {
  google::protobuf::LogSilencer silent;
  const int size = static_cast<int>(bytes.size());
  Decoded d;
  if (bytes.size() > INT32_MAX) return d;
  if (d.module.ParseFromArray(bytes.data(), size) &&
      HasInstructions(d.module)) {
    d.format = FileFormat::kModuleProto;
    return d;
  }
  proto::HloProto hlo;
  if (hlo.ParseFromArray(bytes.data(), size) &&
      HasInstructions(hlo.hlo_module())) {
    d.format = FileFormat::kHloProto;
    d.module.Swap(hlo.mutable_hlo_module());
    return d;
  }
  proto::HloSnapshot snapshot;
  if (snapshot.ParseFromArray(bytes.data(), size) &&
      HasInstructions(snapshot.hlo().hlo_module())) {
    d.format = FileFormat::kSnapshot;
    d.module.Swap(snapshot.mutable_hlo()->mutable_hlo_module());
    d.arguments.assign(snapshot.arguments().begin(),
                       snapshot.arguments().end());
  }
  return d;
}

// Reads a text proto; unknown fields of other versions are skipped.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) {
      text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status ReadTextProto(absl::string_view text, const std::string& name,
                           google::protobuf::Message* out) {
  google::protobuf::LogSilencer silent;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(100);
  if (parser.ParseFromString(std::string(text), out)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ":", error.text()));
}

absl::Status Refused(FileFormat format, const std::string& name) {
  switch (format) {
    case FileFormat::kMlirBytecode:
      return absl::UnimplementedError(absl::StrCat(
          name,
          ": this is MLIR bytecode (VHLO); convert it to text with "
          "`stablehlo-translate --deserialize FILE`"));
    case FileFormat::kJaxExport:
      return absl::UnimplementedError(absl::StrCat(
          name,
          ": this is a jax.export file (VHLO bytecode); convert it to text "
          "with jax.export.deserialize(open(FILE, 'rb').read())"
          ".mlir_module()"));
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          name,
          ": no HLO text, HloModuleProto, HloProto, HloSnapshot or StableHLO "
          "text"));
  }
}

absl::StatusOr<ModuleFile> FromDecoded(const Decoded& d,
                                       const std::string& name) {
  ModuleFile file;
  file.format = d.format;
  ASSIGN_OR_RETURN(file.module, FromProto(d.module, name), _ << name);
  for (const proto::LiteralProto& a : d.arguments) {
    ASSIGN_OR_RETURN(Literal literal, FromProto(a), _ << name);
    file.arguments.push_back(std::move(literal));
  }
  return file;
}

absl::StatusOr<ModuleFile> ReadNested(absl::string_view bytes,
                                      const std::string& name,
                                      absl::Span<const int64_t> sizes,
                                      int depth) {
  const FileFormat format = DetectFormat(bytes);
  if (!sizes.empty() && format != FileFormat::kStableHloText &&
      format != FileFormat::kGzip) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     ": sizes are for StableHLO texts with open "
                     "dimensions, this is ",
                     FormatName(format)));
  }
  ModuleFile file;
  file.format = format;
  Decoded d;
  d.format = format;
  switch (format) {
    case FileFormat::kGzip: {
      if (depth > kMaxGzipNesting) return Refused(format, name);
      ASSIGN_OR_RETURN(const std::string content, Gunzip(bytes), _ << name);
      return ReadNested(content, name, sizes, depth + 1);
    }
    case FileFormat::kHloText: {
      if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(bytes), "IR {")) {
        return absl::UnimplementedError(absl::StrCat(
            name,
            ": this is torch_xla's own IR; have it written as HLO with "
            "XLA_SAVE_TENSORS_FMT=hlo"));
      }
      ASSIGN_OR_RETURN(file.module, ParseModule(bytes, name));
      return file;
    }
    case FileFormat::kStableHloText: {
      ASSIGN_OR_RETURN(file.module, ParseStableHlo(bytes, name, sizes));
      return file;
    }
    case FileFormat::kModuleProto:
    case FileFormat::kHloProto:
    case FileFormat::kSnapshot:
      return FromDecoded(Decode(bytes), name);
    case FileFormat::kModuleTextProto:
      RETURN_IF_ERROR(ReadTextProto(bytes, name, &d.module));
      return FromDecoded(d, name);
    case FileFormat::kHloTextProto: {
      // Also HloUnoptimizedSnapshot, which begins like it.
      proto::HloProto hlo;
      RETURN_IF_ERROR(ReadTextProto(bytes, name, &hlo));
      d.module.Swap(hlo.mutable_hlo_module());
      return FromDecoded(d, name);
    }
    case FileFormat::kSnapshotTextProto: {
      proto::HloSnapshot snapshot;
      RETURN_IF_ERROR(ReadTextProto(bytes, name, &snapshot));
      d.module.Swap(snapshot.mutable_hlo()->mutable_hlo_module());
      d.arguments.assign(snapshot.arguments().begin(),
                         snapshot.arguments().end());
      return FromDecoded(d, name);
    }
    default:
      return Refused(format, name);
  }
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

absl::StatusOr<ModuleFile> ReadModule(absl::string_view bytes,
                                      const std::string& name,
                                      absl::Span<const int64_t> sizes) {
  return ReadNested(bytes, name, sizes, 0);
}

absl::StatusOr<std::string> WriteModule(const Module& module,
                                        FileFormat format) {
  if (format == FileFormat::kHloText) return Print(module);
  if (format == FileFormat::kStableHloText) return WriteStableHlo(module);
  google::protobuf::LogSilencer silent;
  ASSIGN_OR_RETURN(proto::HloModuleProto message, ToProto(module));
  proto::HloProto hlo;
  switch (format) {
    case FileFormat::kModuleProto:
      return message.SerializeAsString();
    case FileFormat::kModuleTextProto:
      return PrintTextProto(message);
    case FileFormat::kHloProto:
      hlo.mutable_hlo_module()->Swap(&message);
      return hlo.SerializeAsString();
    case FileFormat::kHloTextProto:
      hlo.mutable_hlo_module()->Swap(&message);
      return PrintTextProto(hlo);
    default:
      return absl::UnimplementedError(
          absl::StrCat("nothing writes ", FormatName(format)));
  }
}

absl::StatusOr<ElidedValues> ParseElidedValues(absl::string_view name) {
  if (name == "error") return ElidedValues::kKeep;
  if (name == "iota") return ElidedValues::kIota;
  if (name == "zero") return ElidedValues::kZero;
  return absl::InvalidArgumentError(
      absl::StrCat("--elided is error, iota or zero, not \"", name, "\""));
}

namespace {

int64_t Fill(ElidedValues values, Literal* literal) {
  if (literal->IsTuple()) {
    int64_t count = 0;
    for (Literal& e : *literal->mutable_elements()) count += Fill(values, &e);
    return count;
  }
  if (!literal->IsElided()) return 0;
  *literal = Literal(literal->shape());
  if (values == ElidedValues::kZero) return 1;
  for (int64_t i = 0; i < literal->ElementCount(); ++i) literal->SetInt(i, i);
  return 1;
}

}  // namespace

int64_t FillElided(Module* module, ElidedValues values) {
  if (values == ElidedValues::kKeep) return 0;
  int64_t count = 0;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      if (!i->IsConstant()) continue;
      auto* attrs = i->mutable_attrs<ConstantAttrs>();
      Literal literal = *attrs->literal;
      const int64_t filled = Fill(values, &literal);
      if (filled == 0) continue;
      attrs->literal = std::make_shared<const Literal>(std::move(literal));
      count += filled;
    }
  }
  return count;
}

}  // namespace ptxla::hlo

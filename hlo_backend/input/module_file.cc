#include "hlo_backend/input/module_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "hlo_backend/input/decoded_proto.h"
#include "hlo_backend/input/gunzip.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/proto/literal_proto.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"

namespace ptxla::hlo {
namespace {

constexpr int kMaxGzipNesting = 3;

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

}  // namespace ptxla::hlo

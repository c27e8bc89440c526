#include "base/text_proto.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"

namespace ptxla {
namespace {

// Keeps the first error: later ones tend to follow from it.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(absl::string_view name) : name_(name) {}

  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace

absl::Status ParseTextProto(absl::string_view text, absl::string_view name,
                            google::protobuf::Message* message) {
  google::protobuf::io::ArrayInputStream input(text.data(),
                                               static_cast<int>(text.size()));
  google::protobuf::TextFormat::Parser parser;
  FirstError error(name);
  parser.RecordErrorsTo(&error);
  if (parser.Parse(&input, message)) return absl::OkStatus();
  return absl::InvalidArgumentError(error.text());
}

std::string PrintTextProto(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace ptxla

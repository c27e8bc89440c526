#include "tests/hlo_backend/fuzz/readers.h"

#include <google/protobuf/stubs/logging.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/stablehlo/stablehlo.h"

namespace ptxla::hlo {
namespace {

std::string BrokenError(const absl::Status& error) {
  if (error.message().empty()) return "an error that says nothing";
  if (error.code() == absl::StatusCode::kInvalidArgument ||
      error.code() == absl::StatusCode::kUnimplemented) {
    return "";
  }
  return absl::StrCat("not the user's error: ", error.ToString());
}

// The text that the module has when it is read from `proto` again.
absl::StatusOr<std::string> Reread(const proto::HloModuleProto& message) {
  auto again = FromProto(message);
  if (!again.ok()) return again.status();
  return Print(**again);
}

std::string BrokenPromise(const Module& module) {
  const std::string once = Print(module);
  auto again = ParseModule(once);
  if (!again.ok()) {
    return absl::StrCat("valid, but what it prints is not read: ",
                        again.status().ToString(), "\n", once);
  }
  const std::string twice = Print(**again);
  if (twice != once) {
    return absl::StrCat("prints differently when read again:\n", once,
                        "\n--- and then\n", twice);
  }
  auto message = ToProto(module);
  if (!message.ok()) return BrokenError(message.status());
  const auto through = Reread(*message);
  if (!through.ok()) {
    return absl::StrCat("its proto is not read: ", through.status().ToString(),
                        "\n", once);
  }
  if (*through != once) {
    return absl::StrCat("its proto says something else:\n", once,
                        "\n--- and then\n", *through);
  }
  // As StableHLO too, unless it has no form there.
  const auto stable = WriteModule(module, FileFormat::kStableHloText);
  if (!stable.ok()) return BrokenError(stable.status());
  const auto written = ReadModule(*stable, "written");
  if (!written.ok()) {
    return absl::StrCat("its StableHLO is not read: ",
                        written.status().ToString(), "\n", once, *stable);
  }
  return "";
}

Reading Judge(const absl::StatusOr<std::unique_ptr<Module>>& module) {
  Reading r;
  if (!module.ok()) {
    r.broken = BrokenError(module.status());
    return r;
  }
  const absl::Status verified = VerifyModule(**module);
  r.valid = verified.ok();
  r.broken = r.valid ? BrokenPromise(**module) : BrokenError(verified);
  return r;
}

}  // namespace

Reading ReadHloText(absl::string_view bytes) {
  return Judge(ParseModule(bytes, "fuzz"));
}

Reading ReadProto(absl::string_view bytes) {
  google::protobuf::LogSilencer silent;
  proto::HloModuleProto message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {};
  }
  return Judge(FromProto(message, "fuzz"));
}

Reading ReadStableHlo(absl::string_view bytes) {
  return Judge(ParseStableHlo(bytes, "fuzz"));
}

Reading ReadAnyFile(absl::string_view bytes) {
  auto file = ReadModule(bytes, "fuzz");
  if (!file.ok()) return Judge(file.status());
  return Judge(std::move(file->module));
}

}  // namespace ptxla::hlo

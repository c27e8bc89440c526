// Which of the formats of programs a file has, by its content.
//
//   DetectFormat("HloModule m ...")   // FileFormat::kHloText
#ifndef PTXLA_HLO_BACKEND_INPUT_FILE_FORMAT_H_
#define PTXLA_HLO_BACKEND_INPUT_FILE_FORMAT_H_

#include "absl/strings/string_view.h"

namespace ptxla::hlo {

enum class FileFormat {
  kHloText,
  kStableHloText,
  kModuleProto,
  kHloProto,
  kSnapshot,
  kModuleTextProto,
  kHloTextProto,
  kSnapshotTextProto,
  kGzip,
  kMlirBytecode,
  kJaxExport,
  kUnknown
};
const char* FormatName(FileFormat format);  // "HloProto"

// Looks at the content only; does not parse all of it.
FileFormat DetectFormat(absl::string_view bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_INPUT_FILE_FORMAT_H_

// A program from whatever file holds it, told apart by content, not by name:
//
//   HLO text                      HloModule m ... ENTRY ...
//   HloModuleProto, HloProto      *.pb, *.hlo.pb, binary or text proto
//   HloSnapshot, HloUnoptimizedSnapshot
//   StableHLO text                module @jit_f { func.func ...
//   gzip of any of them
//
//   ASSIGN_OR_RETURN(ModuleFile file, ReadModule(bytes, "f.pb"));
//   file.module->entry(); FormatName(file.format) == "HloProto"
//
// Refused by name, with what converts them: MLIR bytecode (StableHLO portable
// artifacts) and jax.export files.
#ifndef PTXLA_HLO_BACKEND_INPUT_MODULE_FILE_H_
#define PTXLA_HLO_BACKEND_INPUT_MODULE_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/input/file_format.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct ModuleFile {
  std::unique_ptr<Module> module;
  FileFormat format = FileFormat::kUnknown;  // after decompression
  // Of a snapshot: the values that the program was run with.
  std::vector<Literal> arguments;
};

// `name` is what errors call the file: "name:line:column: ..." for texts,
// "name: ..." for protos. What is read is not yet valid: run VerifyModule.
// `sizes`: of the open dimensions of a StableHLO text's arguments
// (stablehlo.h); other files have none.
absl::StatusOr<ModuleFile> ReadModule(absl::string_view bytes,
                                      const std::string& name,
                                      absl::Span<const int64_t> sizes = {});

// The module as bytes of a format: kHloText, kStableHloText, kModuleProto,
// kHloProto, kModuleTextProto, kHloTextProto.
absl::StatusOr<std::string> WriteModule(const Module& module,
                                        FileFormat format);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_INPUT_MODULE_FILE_H_

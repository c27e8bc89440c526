// Reads MLIR bytecode of version 0, as Pallas puts it into a tpu_custom_call.
//
//   ASSIGN_OR_RETURN(Module m, ReadBytecode(bytes));
//   m.Function("kernel")
//
// InvalidArgument: not bytecode, or broken; Unimplemented: another version.
// Names of operations lose the prefix `stable_mosaic.` of the dialect that
// keeps them stable between versions of the compiler.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_READER_H_
#define PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {

absl::StatusOr<Module> ReadBytecode(absl::string_view bytes);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_READER_H_

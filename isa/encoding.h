// Binary form of a Program (isa/program.proto). Decode(Encode(p)) == p, and
// equal programs give equal bytes.
#ifndef PTXLA_ISA_ENCODING_H_
#define PTXLA_ISA_ENCODING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "isa/program.h"

namespace ptxla::isa {

std::string Encode(const Program& program);
// InvalidArgument if the bytes are not a program of this table.
absl::StatusOr<Program> Decode(absl::string_view bytes);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_ENCODING_H_

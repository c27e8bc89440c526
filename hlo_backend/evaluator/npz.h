// NumPy's .npy and .npz files, for inputs and outputs of the evaluator.
//
//   ASSIGN_OR_RETURN(NamedLiterals in, ReadNpz("in.npz"));   // arg0, arg1 ...
//   RETURN_IF_ERROR(WriteNpz("out.npz", {{"out0", y}}));
//
// bf16 and the f8, f6, f4 types have no NumPy name: they are stored as raw bits
// (u1, u2), and the array's name carries the type after a dot: "out0.bf16".
// s4 and u4 are stored as one byte each, "out0.s4". Names of the returned
// literals have the suffix removed. What NumPy saves of such types itself (of
// package ml_dtypes) does not say which of them it is; it is read as u8 or u16
// and named "arg0.V1" or "arg0.V2". The archive is a plain zip file without
// time stamps: the same literals give the same bytes.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_NPZ_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {

using NamedLiterals = std::vector<std::pair<std::string, Literal>>;

// InvalidArgument for anything that is no array file of a known type;
// Fortran order is accepted. NotFound if there is no such file.
absl::StatusOr<NamedLiterals> ReadNpz(const std::string& path);
absl::StatusOr<NamedLiterals> ParseNpz(absl::string_view bytes);
// Arrays only (flatten tuples first).
absl::Status WriteNpz(const std::string& path, const NamedLiterals& arrays);
absl::StatusOr<std::string> FormatNpz(const NamedLiterals& arrays);

absl::StatusOr<Literal> ParseNpy(absl::string_view bytes);
std::string FormatNpy(const Literal& literal);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_NPZ_H_

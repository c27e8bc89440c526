// A scatter into an array of one value, as one kernel: a fusion of kind kCustom
// with backend_config "filled scatter". Nobody writes the value everywhere only
// to read it again: the gradient of an embedding.
//
//   %sums = (n: s32[4096], rows: f32[4096,1024]) -> f32[32000,1024] {
//     %n = s32[4096] parameter(0)
//     %rows = f32[4096,1024] parameter(1)
//     %zero = f32[] constant(0)
//     %zeros = f32[32000,1024] broadcast(%zero), dimensions={}
//     ROOT %s = f32[32000,1024] scatter(%zeros, %n, %rows), ...
//   }
//
// The sums may be rounded to bf16 behind it: a table of bf16 is added up in
// f32.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_FILLED_SCATTER_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_FILLED_SCATTER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

inline constexpr absl::string_view kFilledScatterConfig = "filled scatter";

bool IsFilledScatter(const Instruction& instruction);

// Rows of 32 bits, by number, into a broadcast of a scalar constant: what a
// kernel can fill itself.
bool ScattersIntoOneValue(const Instruction& scatter);

// Unimplemented: a body of another form.
absl::Status CheckFilledScatter(const Instruction& fusion);

// The scatter of a fusion that keeps to it.
const Instruction& ScatterOf(const Instruction& fusion);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_FILLED_SCATTER_H_

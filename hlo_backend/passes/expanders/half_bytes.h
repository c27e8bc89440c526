// Movements of 4-bit integers and floats. Eight rows lie in a word (TPUs from
// v4 on), so what moves whole words moves the array as one of words, and what
// does not goes by way of bytes:
//
//   half-byte-expander  before layouts are assigned:
//     s4[6,124] slice(s4[33,129] x)
//     ==> convert(s8[6,124] slice(s8[33,129] convert(x)))
//   half-byte-words     afterwards, rows of tiles being those of words:
//     s4[1,128,64]{T(64,128)(8,1)} dynamic-slice(s4[3,128,64] x)
//     ==> bitcast(s32[1,16,64]{T(8,128)} dynamic-slice(bitcast(x)))
//
// Of slices, dynamic slices and updates, and concatenations, words are moved
// where rows are whole: all, or from a multiple of eight on. Gathers, scatters,
// pads and reversals always go by way of bytes, and so does what is turned
// (transposes, reshapes, copies) if its layout makes it no bitcast. A byte of
// f4e2m1fn is an f8e4m3fn, which has all of its numbers.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HALF_BYTES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HALF_BYTES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class HalfByteExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "half-byte-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

class HalfByteWordsPass : public Pass {
 public:
  absl::string_view name() const override { return "half-byte-words"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HALF_BYTES_H_

// Sines and cosines that share the reduction of their angle, the most of their
// cost, as in the TPU compiler's schedules (libtpu 0.0.42.1): both of one
// number take 156 operations there on v5e, one 148.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_TURNED_ANGLES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_TURNED_ANGLES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Of the block that is open: Clear() where another begins.
class TurnedAngles {
 public:
  codegen::Vec Sine(codegen::CodeBuilder& b, codegen::Vec x);
  codegen::Vec Cosine(codegen::CodeBuilder& b, codegen::Vec x);
  void Clear() { angles_.clear(); }

 private:
  struct Angle {
    codegen::Vec size, quadrant, sine, cosine;
  };
  const Angle& Of(codegen::CodeBuilder& b, codegen::Vec x);

  absl::flat_hash_map<int32_t, Angle> angles_;  // by register
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_TURNED_ANGLES_H_

// Which elements of a register count that a strip move (strip_mover.h) makes:
// the masks of its checks of planes, rows and lanes.
//
//   StripChecks checks(b, move, &loops);
//   Mask m = checks.MaskOf(index);     // of the register at `index`
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_CHECKS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_CHECKS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "hlo_backend/lowering/movement/strip_mover.h"

namespace ptxla::lowering {

class StripChecks {
 public:
  // Levels are planes, columns and registers. `loops` has the counter of each
  // one's loop, or an invalid one; it outlives this, as `move` does.
  StripChecks(codegen::CodeBuilder& b, const StripMove& move,
              const std::vector<codegen::Sca>* loops)
      : b_(b), m_(move), loops_(*loops) {}

  // Another block of code: values of the last are not known there.
  void Forget();
  // Lane of each element.
  codegen::Vec Lane();
  // `index`: by level, of a register beside the loops' counters. Planes and
  // lanes that count; rows too, if they do not share words. Invalid: all.
  codegen::Mask MaskOf(const std::vector<int64_t>& index);
  // Bits of the elements that count, where rows share words and are checked;
  // invalid: MaskOf says all.
  codegen::Vec Counts(const std::vector<int64_t>& index);

 private:
  codegen::Vec Row();
  codegen::Sca Behind(const StripCheck& check, size_t level, int64_t index,
                      int64_t unit);
  codegen::Sca Planes(const std::vector<int64_t>& index);
  codegen::Mask And(codegen::Mask a, codegen::Mask b);
  codegen::Mask In(codegen::Vec x, codegen::Vec first, int64_t count);
  codegen::Vec FirstRow(const std::vector<int64_t>& index);

  codegen::CodeBuilder& b_;
  const StripMove& m_;
  const std::vector<codegen::Sca>& loops_;
  // Of the open block.
  std::map<std::vector<int64_t>, codegen::Sca> planes_;
  std::map<std::vector<int64_t>, codegen::Mask> lanes_;
  codegen::Vec lane_, row_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_CHECKS_H_

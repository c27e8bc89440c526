// What the parts are called that a fusion of a schedule was taken apart into
// (fusion_splitter.h), and what that says: "f.part", "f.part.3" are inside of
// "f", "f.part.out" is one of its results and lies where the schedule says.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_NAMES_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// "f" for "f.part.3", for "f.part.out", and for "f".
absl::string_view WholeName(absl::string_view part);
bool IsPart(const Instruction& i);
// "f.part.3", but not "f.part.out".
bool IsInnerPart(const Instruction& i);
// All who read the value are parts of `whole`.
bool IsReadWithin(const Instruction& value, absl::string_view whole);

// Of what `whole` is, or is a part of. A name of its own: of a new part.
std::string NameOfParts(const Instruction& whole, bool is_result);
std::string PartName(const Instruction& whole);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_NAMES_H_

// The numbers of a data file of the text form of ChipProto, checked: a known
// key, a finite value that is not negative, a unit that fits, a source and a
// confidence, and none given twice.
//
//   ASSIGN_OR_RETURN(std::vector<Parameter> numbers,
//                    ReadNumbers(proto, text, "v6e.chip.textproto"));
//
// Values are in the base units of chips/parameters.h.
#ifndef PTXLA_CHIPS_NUMBER_FILE_H_
#define PTXLA_CHIPS_NUMBER_FILE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/chip.pb.h"
#include "chips/parameters.h"

namespace ptxla::chips {

// In file order. `proto` is what `text` parses to, `name` what errors call the
// text. InvalidArgument names file and line.
absl::StatusOr<std::vector<Parameter>> ReadNumbers(const ChipProto& proto,
                                                   absl::string_view text,
                                                   absl::string_view name);

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_NUMBER_FILE_H_

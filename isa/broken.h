// What is wrong with code that somebody made: Internal.
//
//   return Broken("no arg ", window.arg);
//   return BrokenAt(instr, "no such register");   // "`v1 = vld [s9]`: no ..."
#ifndef PTXLA_ISA_BROKEN_H_
#define PTXLA_ISA_BROKEN_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "isa/asm.h"

namespace ptxla::isa {

template <class... Args>
absl::Status Broken(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}

inline absl::Status BrokenAt(const Instr& instr, absl::string_view what) {
  return Broken("`", Print(instr), "`: ", what);
}

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_BROKEN_H_

// What the fuzzers feed: each reader gets bytes of any kind and either says
// what is wrong with them or makes a module that keeps its promises. A broken
// promise comes back as text; a crash, hang or leak is libFuzzer's to see.
//
//   ReadHloText("HloModule m ...").broken == ""
#ifndef PTXLA_TESTS_HLO_BACKEND_FUZZ_READERS_H_
#define PTXLA_TESTS_HLO_BACKEND_FUZZ_READERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ptxla::hlo {

struct Reading {
  bool valid = false;  // read, and the verifier has nothing against it
  // Which promise does not hold: an error is InvalidArgument or Unimplemented
  // and says something; a valid module prints, and what is printed is read
  // again to the same text; so is its proto.
  std::string broken;
};

Reading ReadHloText(absl::string_view bytes);
Reading ReadProto(absl::string_view bytes);  // a binary HloModuleProto
Reading ReadStableHlo(absl::string_view bytes);
// Whatever ReadModule takes: also HloProto, snapshots, text protos, gzip.
Reading ReadAnyFile(absl::string_view bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_FUZZ_READERS_H_

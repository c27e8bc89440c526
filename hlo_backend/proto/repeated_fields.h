// What readers and writers of several messages share. Internal.
#ifndef PTXLA_HLO_BACKEND_PROTO_REPEATED_FIELDS_H_
#define PTXLA_HLO_BACKEND_PROTO_REPEATED_FIELDS_H_

#include <cstdint>

#include "google/protobuf/repeated_field.h"

namespace ptxla::hlo {

// Shapes, literals and shardings nest no deeper in any program; deeper ones are
// an attack on the stack.
inline constexpr int kMaxProtoNesting = 64;

template <class List>
void AddAll(const List& from, google::protobuf::RepeatedField<int64_t>* to) {
  for (int64_t value : from) to->Add(value);
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_REPEATED_FIELDS_H_

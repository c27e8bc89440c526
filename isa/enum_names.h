// The words of each enum of a program, for reading text and binary forms back.
#ifndef PTXLA_ISA_ENUM_NAMES_H_
#define PTXLA_ISA_ENUM_NAMES_H_

#include <optional>

#include "isa/program.h"

namespace ptxla::isa {

template <class E>
struct EnumSize;
template <>
struct EnumSize<Space> {
  static constexpr int kValue = 5;
};
template <>
struct EnumSize<Direction> {
  static constexpr int kValue = 3;
};
template <>
struct EnumSize<CollectiveKind> {
  static constexpr int kValue = 5;
};
template <>
struct EnumSize<Reduction> {
  static constexpr int kValue = 5;
};
template <>
struct EnumSize<TripCount> {
  static constexpr int kValue = 3;
};

template <class E>
std::optional<E> EnumFromName(absl::string_view name) {
  for (int i = 0; i < EnumSize<E>::kValue; ++i) {
    if (Name(static_cast<E>(i)) == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_ENUM_NAMES_H_

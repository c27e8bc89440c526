// A small module for command lines, and changes of its text.
//
//   folder.Write("m.hlo", Replaced(kAdd, "add(a, b)", "add(a, q)"));
#ifndef PTXLA_TESTS_TOOLS_ADD_MODULE_H_
#define PTXLA_TESTS_TOOLS_ADD_MODULE_H_

#include <string>

namespace ptxla {

inline constexpr char kAdd[] = R"(HloModule m
ENTRY main {
  a = f32[8,128] parameter(0)
  b = f32[8,128] parameter(1)
  ROOT c = f32[8,128] add(a, b)
}
)";

// The first `from`, which must be there, as `to`.
inline std::string Replaced(std::string text, const std::string& from,
                            const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace ptxla

#endif  // PTXLA_TESTS_TOOLS_ADD_MODULE_H_

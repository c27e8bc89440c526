// The ISA page (docs/generated/isa.md), made from the instruction table.
#ifndef PTXLA_ISA_ISA_PAGE_H_
#define PTXLA_ISA_ISA_PAGE_H_

#include <string>

namespace ptxla::isa {

// Markdown: every instruction by unit, with its form, slots, keys and meaning.
std::string IsaPage();

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_ISA_PAGE_H_

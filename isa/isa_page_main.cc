// Prints the ISA page: ptxla_isa_page > docs/generated/isa.md
#include <cstdio>

#include "isa/isa_page.h"

int main() {
  std::fputs(ptxla::isa::IsaPage().c_str(), stdout);
  return 0;
}

// A module of one computation, to be built and changed by hand.
//
//   Graph g;
//   g.main->SetRoot(g.b.Negate(g.Param(0)));
//   g.Done();                     // the module is valid
#ifndef PTXLA_TESTS_HLO_BACKEND_IR_GRAPH_H_
#define PTXLA_TESTS_HLO_BACKEND_IR_GRAPH_H_

#include <cstdint>

#include "gtest/gtest.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {

struct Graph {
  Module module{"t"};
  Computation* main = module.AddComputation("main");
  Builder b{main};
  Instruction* Param(int64_t n) {
    return b.Parameter(n, Shape::Array(kF32, {4}), "p");
  }
  void Done() {
    module.SetEntry(main);
    EXPECT_OK(VerifyModule(module));
  }
};

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_IR_GRAPH_H_

#include "tests/hlo_backend/analysis/root_cost.h"

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr char kReducers[] = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
)";

}  // namespace

Cost RootCost(absl::string_view body, CostOptions options) {
  auto module = ParseModule(
      absl::StrCat("HloModule t\n", kReducers, "ENTRY main {", body, "}"));
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  return CostAnalysis(std::move(options)).Of(*(*module)->entry()->root());
}

}  // namespace ptxla::hlo

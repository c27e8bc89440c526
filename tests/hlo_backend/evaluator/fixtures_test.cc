// Every program of tests/data/frameworks gives what its framework gave.
#include "tests/hlo_backend/evaluator/fixtures.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/coverage.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

std::unique_ptr<Module> Load(const Fixture::Form& form) {
  auto file = ReadModule(form.bytes, form.file);
  EXPECT_OK(file.status());
  if (!file.ok()) return nullptr;
  EXPECT_OK(VerifyModule(*file->module));
  return std::move(file->module);
}

// `at_least`: a tolerance below that is raised to it.
void ExpectSame(const Fixture& f, const Module& module,
                const EvaluatorOptions& options, double at_least = 0) {
  Evaluator evaluator(&module, options);
  std::vector<Literal> results;
  if (f.arguments.size() == 1) {
    auto result = evaluator.Run(f.arguments[0]);
    ASSERT_OK(result.status());
    results.push_back(*std::move(result));
  } else {
    auto all = evaluator.RunDevices(f.arguments);
    ASSERT_OK(all.status());
    results = *std::move(all);
  }
  for (size_t d = 0; d < results.size(); ++d) {
    const std::vector<Literal> outs = Flatten(results[d]);
    ASSERT_EQ(outs.size(), f.outputs[d].size());
    for (size_t k = 0; k < outs.size(); ++k) {
      const Literal& want = f.outputs[d][k];
      const double tolerance =
          f.tolerance >= 0 ? f.tolerance : ToleranceOf(want.shape().type());
      EXPECT_EQ(Difference(outs[k], want, std::max(tolerance, at_least)), "")
          << "output " << k << " of device " << d;
    }
  }
}

TEST(FixturesTest, EveryHloCaseEqualsXla) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Fixture> fixtures,
                       ReadHloCases(PTXLA_SOURCE_DIR));
  EXPECT_GT(fixtures.size(), 560u);
  for (const Fixture& f : fixtures) {
    SCOPED_TRACE(f.name);
    const auto module = Load(f.forms[0]);
    if (module != nullptr) ExpectSame(f, *module, {});
  }
}

// TPU mode computes the same functions, a little less exactly.
TEST(FixturesTest, TpuModeIsNearXla) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Fixture> fixtures,
                       ReadHloCases(PTXLA_SOURCE_DIR));
  for (int generation : {5, 6}) {
    EvaluatorOptions options;
    options.tpu_mode = true;
    options.tpu_generation = generation;
    for (const Fixture& f : fixtures) {
      SCOPED_TRACE(absl::StrCat(f.name, " v", generation));
      // Its poles are near quarter turns.
      if (f.name == "unary_tan") continue;
      const auto module = Load(f.forms[0]);
      // Products of f32 see bf16 operands.
      if (module != nullptr) ExpectSame(f, *module, options, 2e-2);
    }
  }
}

TEST(FixturesTest, EveryFormOfAFrameworksProgramEqualsTheFramework) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Fixture> fixtures,
                       ReadFrameworkPrograms(PTXLA_SOURCE_DIR));
  std::map<std::string, int> forms;
  for (const Fixture& f : fixtures) {
    for (const Fixture::Form& form : f.forms) {
      SCOPED_TRACE(form.file);
      const auto module = Load(form);
      if (module == nullptr) continue;
      ExpectSame(f, *module, {});
      forms[form.file.substr(form.file.find('.'))]++;
    }
  }
  EXPECT_GE(forms[".mlir"], 45);
  EXPECT_GE(forms[".hlo"], 45);
  EXPECT_GE(forms[".pb"] + forms[".pb.gz"], 45);
}

void AddOpcodes(const Module& module, std::set<Opcode>* found) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) found->insert(i->opcode());
  }
}

TEST(FixturesTest, EveryOpcodeThatIsEvaluatedHasThreePrograms) {
  std::map<Opcode, int> programs;
  for (const auto& read : {ReadHloCases(PTXLA_SOURCE_DIR),
                           ReadFrameworkPrograms(PTXLA_SOURCE_DIR)}) {
    ASSERT_OK(read.status());
    for (const Fixture& f : *read) {
      std::set<Opcode> found;
      for (const Fixture::Form& form : f.forms) {
        const auto module = Load(form);
        if (module != nullptr) AddOpcodes(*module, &found);
      }
      for (Opcode opcode : found) ++programs[opcode];
    }
  }
  for (int k = 0; k < kOpcodeCount; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    if (WhyNotEvaluated(opcode).empty()) {
      EXPECT_GE(programs[opcode], 3) << OpcodeName(opcode);
    }
  }
}

TEST(CoverageTest, OnlyWhatComesFromOutsideIsNotEvaluated) {
  std::set<std::string> refused;
  for (int k = 0; k < kOpcodeCount; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    if (!WhyNotEvaluated(opcode).empty()) {
      refused.insert(std::string(OpcodeName(opcode)));
    }
  }
  EXPECT_EQ(refused, (std::set<std::string>{"infeed", "recv", "recv-done"}));
}

}  // namespace
}  // namespace ptxla::hlo

// Which element types every opcode takes and gives: XLA's word, as
// tests/tools/make_type_table.py wrote it, form by form and type by type.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Forms where we refuse more, with the reason.
const std::map<std::string, const char*>& Narrower() {
  constexpr char kBits[] =
      "XLA's inference takes any number, no backend of it computes that";
  static const auto& forms =
      *new std::map<std::string, const char*>{{"mulhi", kBits},
                                              {"shift-left", kBits},
                                              {"shift-right-arithmetic", kBits},
                                              {"shift-right-logical", kBits}};
  return forms;
}

struct Form {
  std::string name, parameters, instruction;
  std::map<std::string, std::string> taken;  // type of T: type of the result
};

std::vector<Form> AllForms() {
  const auto text = ReadFile(PTXLA_SOURCE_DIR "/tests/data/element_types.txt");
  EXPECT_OK(text.status());
  std::vector<Form> forms;
  for (absl::string_view line :
       absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> part = absl::StrSplit(line, "; ");
    Form form{part[0], part[1], part[2], {}};
    for (const absl::string_view type :
         absl::StrSplit(part[3], ' ', absl::SkipEmpty())) {
      const std::vector<std::string> pair = absl::StrSplit(type, '>');
      form.taken[pair[0]] = pair.back();
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

std::string TextOf(const Form& form, absl::string_view type) {
  std::string text =
      "HloModule t\nadd { a = f32[] parameter(0) b = f32[] parameter(1) "
      "ROOT s = f32[] add(a, b) }\nENTRY e {\n";
  int i = 0;
  for (absl::string_view p :
       absl::StrSplit(form.parameters, ' ', absl::SkipEmpty())) {
    absl::StrAppend(&text, "p", i, " = ", p, " parameter(", i, ")\n");
    ++i;
  }
  absl::StrAppend(&text, "ROOT r = ", form.instruction, "\n}\n");
  const std::string to = absl::StrCat(" ", type, "[");
  return absl::StrReplaceAll(text, {{" T[", to}});
}

absl::StatusOr<std::string> ResultType(const std::string& text) {
  auto module = ParseModule(text);
  if (!module.ok()) return module.status();
  if (auto valid = VerifyModule(**module); !valid.ok()) return valid;
  const Shape* shape = &(*module)->entry()->root()->shape();
  if (shape->IsTuple()) shape = &shape->element(0);
  return std::string(PrimitiveTypeName(shape->type()));
}

constexpr PrimitiveType kTypes[] = {
#define PTXLA_X(e, text, number, bits, cls) PrimitiveType::e,
    PTXLA_HLO_PRIMITIVE_TYPES(PTXLA_X)
#undef PTXLA_X
};

TEST(ElementTypesTest, EveryFormTakesAndGivesTheTypesThatXlaSays) {
  const std::vector<Form> forms = AllForms();
  EXPECT_GE(forms.size(), 75);
  for (const Form& form : forms) {
    // XLA was not asked about these where StableHLO is the judge.
    const bool unasked =
        form.instruction.find('[') < form.instruction.find('(');
    for (const PrimitiveType t : kTypes) {
      if (!IsArrayType(t)) continue;
      const std::string type(PrimitiveTypeName(t));
      if (unasked && (type == "s1" || type == "u1")) continue;
      const std::string text = TextOf(form, type);
      SCOPED_TRACE(text);
      const auto ours = ResultType(text);
      const auto xla = form.taken.find(type);
      if (xla != form.taken.end() &&
          !(Narrower().count(form.name) != 0 && !IsInteger(t))) {
        ASSERT_OK(ours.status());
        EXPECT_EQ(*ours, xla->second);
      } else {
        ASSERT_FALSE(ours.ok()) << "only we take it";
        EXPECT_NE(ours.status().message().find(form.name), std::string::npos)
            << ours.status();
      }
    }
  }
}

// Which of two types an elementwise instruction may be written with.
TEST(ElementTypesTest, OnlyFloatsMayBeWrittenInAnotherPrecision) {
  const auto type = [](absl::string_view of, absl::string_view result) {
    return ResultType(absl::StrCat("HloModule t\nENTRY e { p = ", of,
                                   "[4] parameter(0) ROOT r = ", result,
                                   "[4] add(p, p) }"));
  };
  EXPECT_OK(type("bf16", "f32").status());
  EXPECT_OK(type("f32", "f8e5m2").status());
  EXPECT_FALSE(type("s8", "s32").ok());
  EXPECT_FALSE(type("s32", "f32").ok());
  EXPECT_FALSE(type("s32", "u32").ok());
  EXPECT_FALSE(type("pred", "s32").ok());
}

}  // namespace
}  // namespace ptxla::hlo

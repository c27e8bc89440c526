#include "hlo_backend/ir/reader.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::hlo {
namespace {

// How a token appears in a message.
std::string Quote(const Token& t) {
  switch (t.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kString:
      return absl::StrCat("the string \"",
                          absl::Utf8SafeCHexEscape(t.text.substr(0, 30)), "\"");
    default:
      return absl::StrCat("\"", t.text.substr(0, 40), "\"");
  }
}

}  // namespace

bool Reader::Fail(const char* at, absl::string_view message) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(lex_.LineOf(at), ":", lex_.ColumnOf(at), ": ", message));
  }
  return false;
}

bool Reader::Expected(absl::string_view what) {
  if (token().kind == TokenKind::kError) return Fail(at(), token().text);
  return Fail(at(), absl::StrCat("expected ", what, ", got ", Quote(token())));
}

bool Reader::Accept(char punct) {
  if (!Is(punct)) return false;
  lex_.Next();
  return true;
}

bool Reader::AcceptName(absl::string_view name) {
  if (!IsName(name)) return false;
  lex_.Next();
  return true;
}

bool Reader::Expect(char punct) {
  if (Accept(punct)) return true;
  return Expected(absl::StrCat("'", std::string(1, punct), "'"));
}

bool Reader::ExpectName(absl::string_view name) {
  if (AcceptName(name)) return true;
  return Expected(absl::StrCat("\"", name, "\""));
}

bool Reader::ExpectEnd() { return AtEnd() || Expected("the end of the text"); }

bool Reader::Int(int64_t* value) {
  if (token().kind != TokenKind::kInteger) return Expected("an integer");
  if (!absl::SimpleAtoi(token().text, value)) {
    return Fail(at(), absl::StrCat(token().text, " is out of range"));
  }
  lex_.Next();
  return true;
}

bool Reader::Double(double* value) {
  const TokenKind kind = token().kind;
  if ((kind != TokenKind::kInteger && kind != TokenKind::kDecimal &&
       kind != TokenKind::kName) ||
      !absl::SimpleAtod(token().text, value)) {
    return Expected("a number");
  }
  lex_.Next();
  return true;
}

bool Reader::Bool(bool* value) {
  if (AcceptName("true")) {
    *value = true;
  } else if (AcceptName("false")) {
    *value = false;
  } else {
    return Expected("true or false");
  }
  return true;
}

bool Reader::Name(absl::string_view* name) {
  if (token().kind != TokenKind::kName) return Expected("a name");
  *name = token().text;
  lex_.Next();
  return true;
}

bool Reader::Name(std::string* name) {
  absl::string_view view;
  if (!Name(&view)) return false;
  *name = std::string(view);
  return true;
}

bool Reader::String(std::string* value) {
  if (token().kind != TokenKind::kString) return Expected("a string");
  const absl::string_view text = token().text;
  if (text.find('\\') == absl::string_view::npos) {
    *value = std::string(text);
  } else {
    std::string error;
    if (!absl::CUnescape(text, value, &error)) {
      return Fail(at(), absl::StrCat("bad escape in a string: ", error));
    }
  }
  lex_.Next();
  return true;
}

bool Reader::Word(absl::string_view* word) {
  const char* begin = at();
  const char* end = lex_.text().data() + lex_.text().size();
  const char* p = begin;
  while (p != end && !strchr(" ,(){}[]\n\t\r", *p)) ++p;
  if (p == begin) return Expected("a word");
  *word = absl::string_view(begin, p - begin);
  lex_.Seek(p);
  return true;
}

bool Reader::Raw(std::string* text) {
  if (!Is('{')) return Expected("'{'");
  const char* begin = at();
  const absl::string_view raw = lex_.TakeBraced();
  if (raw.empty()) return Fail(begin, "this '{' is not closed");
  *text = std::string(raw);
  return true;
}

bool Reader::BoolList(std::vector<bool>* list) {
  list->clear();
  if (!Expect('{')) return false;
  while (!Is('}')) {
    bool value;
    if (!Bool(&value)) return false;
    list->push_back(value);
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool Reader::IntLists(std::vector<std::vector<int64_t>>* lists) {
  lists->clear();
  if (!Expect('{')) return false;
  while (!Is('}')) {
    lists->emplace_back();
    if (!IntList(&lists->back())) return false;
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool ReadEnum(Reader* reader, absl::Span<const absl::string_view> names,
              int* value) {
  if (reader->token().kind == TokenKind::kName) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] != reader->token().text) continue;
      *value = static_cast<int>(i);
      reader->lexer().Next();
      return true;
    }
  }
  std::vector<absl::string_view> known;
  for (absl::string_view name : names) {
    if (!name.empty()) known.push_back(name);
  }
  return reader->Expected(absl::StrCat("one of ", absl::StrJoin(known, ", ")));
}

}  // namespace ptxla::hlo

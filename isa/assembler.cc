#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "isa/asm.h"
#include "isa/enum_names.h"
#include "isa/fields.h"
#include "isa/parse_instr.h"
#include "isa/scanner.h"

namespace ptxla::isa {
namespace {

template <class T>
absl::Status ParseStruct(Scanner* s, T* out);

absl::Status ParseSlice(Scanner* s, BufferSlice* out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  ASSIGN_OR_RETURN(const int64_t buffer, s->Integer(-1, kMax));
  RETURN_IF_ERROR(s->Expect('+'));
  out->buffer = static_cast<int>(buffer);
  ASSIGN_OR_RETURN(out->offset,
                   s->Integer(0, std::numeric_limits<int64_t>::max()));
  return absl::OkStatus();
}

// "[x, y]" by `item`.
template <class T, class Fn>
absl::Status ParseList(Scanner* s, std::vector<T>* out, Fn item) {
  RETURN_IF_ERROR(s->Expect('['));
  if (s->Take(']')) return absl::OkStatus();
  do {
    RETURN_IF_ERROR(item(&out->emplace_back()));
  } while (s->Take(','));
  return s->Expect(']');
}

// The visitor that fills the field named `key`.
class Reader {
 public:
  Reader(Scanner* scanner, absl::string_view key) : s_(scanner), key_(key) {}

  template <class T>
  void operator()(absl::string_view name, T& x) {
    if (name != key_) {
      known_.emplace_back(name);
      return;
    }
    found_ = true;
    status_ = Read(&x);
  }
  template <class T, class Variant>
  void Alternative(absl::string_view name, Variant& action) {
    if (name != key_) {
      known_.emplace_back(name);
      return;
    }
    found_ = true;
    T x;
    status_ = ParseStruct(s_, &x);
    action = std::move(x);
  }
  absl::Status Finish() {
    if (found_) return status_;
    const std::string near = NearestName(key_, known_);
    return s_->Error(absl::StrCat(
        "unknown field \"", key_, "\" before here",
        near.empty() ? "" : absl::StrCat("; did you mean \"", near, "\"?")));
  }

 private:
  template <class T>
  absl::Status Read(T* x) {
    if constexpr (std::is_same_v<T, bool>) {
      RETURN_IF_ERROR(s_->Expect('='));
      *x = s_->TakeWord("true");
      return *x || s_->TakeWord("false") ? absl::OkStatus()
                                         : s_->Error("expected true or false");
    } else if constexpr (std::is_enum_v<T>) {
      RETURN_IF_ERROR(s_->Expect('='));
      Scanner before = *s_;
      ASSIGN_OR_RETURN(absl::string_view word, s_->DashedWord("a name"));
      std::optional<T> value = EnumFromName<T>(word);
      if (!value.has_value()) {
        return before.Error(absl::StrCat("unknown name \"", word, "\""));
      }
      *x = *value;
      return absl::OkStatus();
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      RETURN_IF_ERROR(s_->Expect('='));
      ASSIGN_OR_RETURN(*x, s_->Unsigned());
      return absl::OkStatus();
    } else if constexpr (std::is_integral_v<T>) {
      RETURN_IF_ERROR(s_->Expect('='));
      ASSIGN_OR_RETURN(const int64_t value,
                       s_->Integer(std::numeric_limits<T>::min(),
                                   std::numeric_limits<T>::max()));
      *x = static_cast<T>(value);
      return absl::OkStatus();
    } else {
      return ParseStruct(s_, x);
    }
  }
  absl::Status Read(std::string* x) {
    RETURN_IF_ERROR(s_->Expect('='));
    ASSIGN_OR_RETURN(*x, s_->Quoted());
    return absl::OkStatus();
  }
  absl::Status Read(Code* code) {
    RETURN_IF_ERROR(s_->Expect('{'));
    return ParseNodes(s_, true, code);
  }
  absl::Status Read(BufferSlice* x) {
    RETURN_IF_ERROR(s_->Expect('='));
    return ParseSlice(s_, x);
  }
  absl::Status Read(std::vector<BufferSlice>* x) {
    RETURN_IF_ERROR(s_->Expect('='));
    return ParseList(s_, x,
                     [&](BufferSlice* item) { return ParseSlice(s_, item); });
  }
  absl::Status ReadInts(std::vector<int64_t>* x) {
    return ParseList(s_, x, [&](int64_t* item) -> absl::Status {
      ASSIGN_OR_RETURN(*item, s_->Integer());
      return absl::OkStatus();
    });
  }
  absl::Status Read(std::vector<int64_t>* x) {
    RETURN_IF_ERROR(s_->Expect('='));
    return ReadInts(x);
  }
  absl::Status Read(std::vector<std::vector<int64_t>>* x) {
    RETURN_IF_ERROR(s_->Expect('='));
    return ParseList(
        s_, x, [&](std::vector<int64_t>* item) { return ReadInts(item); });
  }
  absl::Status Read(std::vector<Schedule>* x) {
    Branch branch;
    RETURN_IF_ERROR(ParseStruct(s_, &branch));
    x->push_back(std::move(branch.op));
    return absl::OkStatus();
  }
  template <class T>
  absl::Status Read(std::vector<T>* x) {
    T item;
    RETURN_IF_ERROR(ParseStruct(s_, &item));
    x->push_back(std::move(item));
    return absl::OkStatus();
  }

  Scanner* s_;
  absl::string_view key_;
  bool found_ = false;
  absl::Status status_;
  std::vector<std::string> known_;
};

template <class T>
absl::Status ParseStruct(Scanner* s, T* out) {
  RETURN_IF_ERROR(s->Enter());
  RETURN_IF_ERROR(s->Expect('{'));
  while (!s->Take('}')) {
    ASSIGN_OR_RETURN(const absl::string_view key, s->Word("a field or '}'"));
    Reader reader(s, key);
    VisitFields(reader, *out);
    RETURN_IF_ERROR(reader.Finish());
  }
  s->Leave();
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<T> ParseWhole(absl::string_view text, absl::string_view name,
                             absl::string_view keyword) {
  Scanner scanner(text, name);
  if (!scanner.TakeWord(keyword)) {
    return scanner.Error(absl::StrCat("expected `", keyword, " {`"));
  }
  T value;
  RETURN_IF_ERROR(ParseStruct(&scanner, &value));
  if (!scanner.AtEnd()) return scanner.Error("expected the end");
  return value;
}

}  // namespace

absl::StatusOr<Instr> ParseInstr(absl::string_view text) {
  Scanner scanner(text, "instruction");
  Instr instr;
  RETURN_IF_ERROR(ParseInstr(&scanner, &instr));
  if (!scanner.AtEnd()) return scanner.Error("expected the end");
  return instr;
}

absl::StatusOr<Code> ParseCode(absl::string_view text, absl::string_view name) {
  Scanner scanner(text, name);
  Code code;
  RETURN_IF_ERROR(ParseNodes(&scanner, false, &code));
  return code;
}

absl::StatusOr<Kernel> ParseKernel(absl::string_view text,
                                   absl::string_view name) {
  return ParseWhole<Kernel>(text, name, "kernel");
}

absl::StatusOr<Program> ParseProgram(absl::string_view text,
                                     absl::string_view name) {
  return ParseWhole<Program>(text, name, "program");
}

}  // namespace ptxla::isa

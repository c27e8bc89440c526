// The text of code, kernels and programs.
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "isa/asm.h"
#include "isa/fields.h"

namespace ptxla::isa {
namespace {

constexpr absl::string_view kWhenNames[] = {"first", "not_first", "last",
                                            "not_last"};

// Structs that take a line per field; the others are written in one line.
template <class T>
struct IsBlock : std::false_type {};
template <>
struct IsBlock<Program> : std::true_type {};
template <>
struct IsBlock<Kernel> : std::true_type {};
template <>
struct IsBlock<Window> : std::true_type {};
template <>
struct IsBlock<DmaDescriptor> : std::true_type {};
template <>
struct IsBlock<Op> : std::true_type {};
template <>
struct IsBlock<While> : std::true_type {};
template <>
struct IsBlock<Conditional> : std::true_type {};
template <>
struct IsBlock<Branch> : std::true_type {};

class Writer {
 public:
  std::string Take() { return std::move(out_); }

  void Write(const Block& block) {
    Line(absl::StrCat("block \"", absl::CEscape(block.label), "\" {"));
    ++indent_;
    for (int i = 0; i < block.NumBundles(); ++i) {
      Indent();
      out_ += "{";
      absl::string_view separator = " ";
      for (const Instr& instr : block.Bundle(i)) {
        absl::StrAppend(&out_, separator, Print(instr));
        separator = " ; ";
      }
      out_ += " }\n";
    }
    Close();
  }

  void Write(const Code& code) {
    for (const Node& node : code) {
      if (const Block* block = node.block()) Write(*block);
      if (const Loop* loop = node.loop()) {
        const std::string counter =
            loop->counter == kNoReg ? "-" : absl::StrCat("s", loop->counter);
        Line(absl::StrCat(
            "loop ", counter, " step ", loop->increment, " times ", loop->trips,
            loop->count == kNoReg ? "" : absl::StrCat(" of s", loop->count),
            " {"));
        ++indent_;
        Write(loop->body);
        Close();
      }
      if (const When* when = node.when()) {
        Line(absl::StrCat(
            "when ", kWhenNames[static_cast<int>(when->kind)], " ",
            when->dim == kCoreShare ? kCoreShareWord : absl::StrCat(when->dim),
            " {"));
        ++indent_;
        Write(when->body);
        Close();
      }
    }
  }

  template <class T>
  void WriteStruct(absl::string_view name, const T& x) {
    if (!IsBlock<T>::value && inline_ == 0) Indent();
    inline_ += IsBlock<T>::value ? 0 : 1;
    Line(absl::StrCat(name, " {"));
    ++indent_;
    WriteFields(x);
    Close();
    if (IsBlock<T>::value) return;
    if (--inline_ == 0) out_.back() = '\n';
  }

  // As a visitor of fields: `x` against its default.
  template <class T>
  void operator()(absl::string_view name, T& x) {
    Field(name, x);
  }
  template <class T, class Variant>
  void Alternative(absl::string_view name, Variant& action) {
    if (auto* x = std::get_if<T>(&action)) WriteStruct(name, *x);
  }

  template <class T>
  void WriteFields(const T& x) {
    // VisitFields takes a mutable value for readers' sake; a writer reads.
    VisitFields(*this, const_cast<T&>(x));
  }

 private:
  void Indent() { out_.append(2 * indent_, ' '); }
  // A line, or one more word of a struct that is written in one line.
  void Line(absl::string_view text) {
    if (inline_ == 0) Indent();
    absl::StrAppend(&out_, text, inline_ == 0 ? "\n" : " ");
  }
  void Close() {
    --indent_;
    Line("}");
  }

  template <class T>
  void Field(absl::string_view name, const T& x) {
    if constexpr (std::is_same_v<T, bool>) {
      Line(absl::StrCat(name, "=", x ? "true" : "false"));
    } else if constexpr (std::is_enum_v<T>) {
      Line(absl::StrCat(name, "=", Name(x)));
    } else if constexpr (std::is_integral_v<T>) {
      Line(absl::StrCat(name, "=", x));
    } else {
      WriteStruct(name, x);
    }
  }
  void Field(absl::string_view name, const std::string& x) {
    if (!x.empty()) Line(absl::StrCat(name, "=\"", absl::CEscape(x), "\""));
  }
  void Field(absl::string_view name, const Code& code) {
    if (code.empty()) return;
    Line(absl::StrCat(name, " {"));
    ++indent_;
    Write(code);
    Close();
  }
  void Field(absl::string_view name, const std::vector<int64_t>& x) {
    if (!x.empty()) Line(absl::StrCat(name, "=", List(x)));
  }
  void Field(absl::string_view name,
             const std::vector<std::vector<int64_t>>& x) {
    if (x.empty()) return;
    std::vector<std::string> lists;
    lists.reserve(x.size());
    for (const auto& list : x) lists.push_back(List(list));
    Line(absl::StrCat(name, "=[", absl::StrJoin(lists, ", "), "]"));
  }
  void Field(absl::string_view name, const BufferSlice& x) {
    Line(absl::StrCat(name, "=", Slice(x)));
  }
  void Field(absl::string_view name, const std::vector<BufferSlice>& x) {
    if (x.empty()) return;
    std::vector<std::string> slices;
    slices.reserve(x.size());
    for (const BufferSlice& slice : x) slices.push_back(Slice(slice));
    Line(absl::StrCat(name, "=[", absl::StrJoin(slices, ", "), "]"));
  }
  void Field(absl::string_view name, const std::vector<Schedule>& x) {
    for (const Schedule& branch : x) WriteStruct(name, Branch{branch});
  }
  template <class T>
  void Field(absl::string_view name, const std::vector<T>& x) {
    for (const T& item : x) WriteStruct(name, item);
  }

  static std::string List(const std::vector<int64_t>& x) {
    return absl::StrCat("[", absl::StrJoin(x, ", "), "]");
  }
  // "3+64": byte 64 of buffer 3.
  static std::string Slice(const BufferSlice& x) {
    return absl::StrCat(x.buffer, "+", x.offset);
  }

  std::string out_;
  int indent_ = 0;
  int inline_ = 0;  // depth inside a struct that takes one line
};

}  // namespace

std::string Print(const Block& block) {
  Writer writer;
  writer.Write(block);
  return writer.Take();
}

std::string Print(const Code& code) {
  Writer writer;
  writer.Write(code);
  return writer.Take();
}

std::string Print(const Kernel& kernel) {
  Writer writer;
  writer.WriteStruct("kernel", kernel);
  return writer.Take();
}

std::string Print(const Program& program) {
  Writer writer;
  writer.WriteStruct("program", program);
  return writer.Take();
}

}  // namespace ptxla::isa

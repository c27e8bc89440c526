// The grammar of the values in HLO text: numbers, lists, shapes, layouts,
// literals, windows, shardings, groups. Internal to the parser.
//
// Every function reads at the current token, moves behind what it read, and
// returns false after the first error, which status() holds with its place.
#ifndef PTXLA_HLO_BACKEND_IR_READER_H_
#define PTXLA_HLO_BACKEND_IR_READER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {

class Reader {
 public:
  explicit Reader(absl::string_view text) : lex_(text) {}

  absl::Status status() const { return status_; }
  // "3:7: message", once.
  bool Fail(const char* at, absl::string_view message);
  // "expected `what`, got ..." at the current token.
  bool Expected(absl::string_view what);

  // Tokens.
  const Token& token() const { return lex_.token(); }
  const char* at() const { return lex_.token().begin; }
  Lexer& lexer() { return lex_; }
  bool Is(char punct) const {
    return token().kind == TokenKind::kPunct && token().text[0] == punct;
  }
  bool IsName(absl::string_view name) const {
    return token().kind == TokenKind::kName && token().text == name;
  }
  bool AtEnd() const { return token().kind == TokenKind::kEnd; }
  bool Accept(char punct);
  bool AcceptName(absl::string_view name);
  bool Expect(char punct);
  bool ExpectName(absl::string_view name);
  bool ExpectEnd();

  // Scalars.
  bool Int(int64_t* value);
  template <class T>
  bool IntAs(T* value) {
    int64_t v;
    if (!Int(&v)) return false;
    *value = static_cast<T>(v);
    return true;
  }
  bool Double(double* value);
  bool Bool(bool* value);
  bool Name(absl::string_view* name);
  bool Name(std::string* name);
  bool String(std::string* value);  // unescaped
  // Characters up to the next comma, bracket or space: 1_1x0_2,
  // b01f_01io->b01f.
  bool Word(absl::string_view* word);
  // A whole {...} as it is written.
  bool Raw(std::string* text);

  // "{1,2}" into any list of int64; `open` may be '[' or '('.
  template <class List>
  bool IntList(List* list, char open = '{', char close = '}') {
    list->clear();
    if (!Expect(open)) return false;
    while (!Is(close)) {
      int64_t v;
      if (!Int(&v)) return false;
      list->push_back(static_cast<typename List::value_type>(v));
      if (!Accept(',')) break;
    }
    return Expect(close);
  }
  bool BoolList(std::vector<bool>* list);                   // {true,false}
  bool IntLists(std::vector<std::vector<int64_t>>* lists);  // {{0,1},{2}}
  bool ShapeIndexValue(ShapeIndex* index) { return IntList(index); }

  // Shapes (reader_shape.cc).
  bool AtShape();
  bool ShapeValue(Shape* shape);
  bool LayoutValue(Layout* layout);

  // Values of attributes (reader_values.cc).
  bool WindowValue(Window* window);
  bool ConvDimsValue(ConvDims* dims);
  bool PaddingValue(PadAttrs* padding);
  bool SliceValue(SliceAttrs* slice);
  bool PrecisionValue(PrecisionConfig* precision);
  bool ResultAccuracyValue(ResultAccuracyAttrs* accuracy);
  bool AliasingValue(std::vector<OutputOperandAlias>* aliasing);
  bool MetadataValue(Metadata* metadata);
  bool FrontendValue(FrontendAttributes* attributes);
  template <size_t N, class E>
  bool EnumValue(const absl::string_view (&names)[N], E* value);

  // Devices (reader_devices.cc).
  bool IotaValue(IotaDevices* iota);  // after "<="
  bool MeshValue(Mesh* mesh);
  bool AxisRefs(std::vector<AxisRef>* axes, bool* open = nullptr);
  // Each axis is one of the mesh's, and a part of one divides it.
  bool CheckAxes(const Mesh& mesh, const std::vector<AxisRef>& axes,
                 const char* begin);
  bool ReplicaGroupsValue(ReplicaGroups* groups);
  bool ShardingValue(Sharding* sharding);

  // Literals (reader_literal.cc).
  bool LiteralValue(const Shape& shape, Literal* literal);

 protected:
  Lexer lex_;

 private:
  // Of shapes in shapes and shardings in shardings: a stack has an end.
  static constexpr int kMostNested = 500;

  bool AnyShape(Shape* shape);
  bool ArrayShape(Shape* shape);
  bool LayoutProperty(Layout* layout);
  bool TileValue(Layout* layout);
  bool WindowField(absl::string_view key, Window* window);
  bool NamedShardingValue(Sharding* sharding);
  bool TiledShardingValue(Sharding* sharding);
  bool AxisRefValue(AxisRef* ref);
  bool Elements(const Shape& shape, int dim, uint8_t** out);
  bool Element(PrimitiveType type, uint8_t* out);
  bool FloatElement(PrimitiveType type, uint8_t* out);
  bool NanPayload(PrimitiveType type, bool negative, uint8_t* out);

  absl::Status status_;
  int nesting_ = 0;
};

// One of these names; the error lists them.
bool ReadEnum(Reader* reader, absl::Span<const absl::string_view> names,
              int* value);

template <size_t N, class E>
bool Reader::EnumValue(const absl::string_view (&names)[N], E* value) {
  int index;
  if (!ReadEnum(this, names, &index)) return false;
  *value = static_cast<E>(index);
  return true;
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_READER_H_

// Types and attributes of MLIR text. Internal to the reader.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_VALUE_PARSER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_VALUE_PARSER_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/stablehlo/mlir.h"
#include "hlo_backend/stablehlo/scanner.h"

namespace ptxla::hlo::mlir {

class ValueParser : public Scanner {
 public:
  using Scanner::Scanner;

  // tensor<2x3xf32>, tuple<...>, !stablehlo.token, i32, !alias. What is no
  // type of HLO keeps its text and an invalid shape.
  bool ParseType(Type* type);
  // `(a, b) -> c`, `a, b -> c`, `a, b`: operands go to `before`, results to
  // `after`; *arrow says whether there was one.
  bool TypeSignature(std::vector<Type>* before, std::vector<Type>* after,
                     bool* arrow);

  bool ParseAttr(Attr* attr);
  // {a = 1, b}, after its brace was seen.
  bool ParseDict(AttrDict* dict);
  // Comma separated `key = value` up to `close`; also `key = value value`
  // (the values' texts are then one dialect attribute).
  bool ParseFields(AttrDict* dict, absl::string_view close);

  // `!name = type`, `#name = attribute` at the top of a file.
  bool ParseAlias();
  const absl::flat_hash_map<std::string, std::string>& location_aliases()
      const {
    return locations_;
  }

 private:
  bool Tensor(Shape* shape);
  bool Dimension(DimVector* dims);
  bool ElementType(PrimitiveType* type);
  bool QuantizedElement(PrimitiveType* type);
  bool QuantizedScale(Quantized* quantized);
  bool Bounds(Shape* shape);
  bool TypeUnlessNested(Type* type);
  bool Dense(Attr* attr);
  bool DenseHex(const Shape& shape, Literal* literal);
  bool DenseElements(const Shape& shape, Literal* literal);
  bool Element(PrimitiveType type, uint8_t* bytes);
  bool Number(Attr* attr);
  bool TypedArray(Attr* attr);
  bool Entries(AttrDict* dict);

  absl::flat_hash_map<std::string, Type> types_;
  absl::flat_hash_map<std::string, Attr> attrs_;
  absl::flat_hash_map<std::string, std::string> locations_;
  std::shared_ptr<const Quantized> quantized_;  // of the type being read
  int depth_ = 0;

 protected:
  // A number or string is not followed by `: type`: there it would be the
  // types of the operation.
  bool untyped_ = false;
};

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_VALUE_PARSER_H_

// The strings, attributes and types of a piece of MLIR bytecode. Those of the
// builtin dialect have an encoding of their own; those of others travel as
// text, and stay text here.
//
//   Tables tables(&module);
//   RETURN_IF_ERROR(tables.Read(sections));
//   const Type* type = tables.TypeAt(in.Index(tables.type_count()));
//
// Formats: MLIR's documentation of its bytecode and of the builtin dialect's
// encodings.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_TABLES_H_
#define PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_TABLES_H_

#include <array>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/mosaic/byte_stream.h"
#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {

// By section number; empty where the file has none.
using Sections = std::array<absl::string_view, 16>;
enum SectionNumber {
  kStringSection = 0,
  kDialectSection = 1,
  kAttrTypeSection = 2,
  kAttrTypeOffsetSection = 3,
  kIrSection = 4,
};

class Tables {
 public:
  // What is read belongs to `module`.
  explicit Tables(Module* module) : module_(module) {}
  absl::Status Read(const Sections& sections);

  size_t string_count() const { return strings_.size(); }
  size_t attribute_count() const { return attributes_.size(); }
  size_t type_count() const { return types_.size(); }
  // Full names of operations, as the operations section numbers them.
  const std::vector<std::string>& operation_names() const {
    return operation_names_;
  }
  // Null where it cannot be read.
  const Attribute* AttributeAt(size_t index);
  const Type* TypeAt(size_t index);

 private:
  template <class T>
  struct Entry {
    absl::string_view bytes;
    bool encoded = false;  // else zero-terminated text
    bool open = false;     // being read: what holds itself cannot be
    const T* value = nullptr;
  };

  absl::Status ReadStrings(absl::string_view bytes);
  absl::Status ReadDialects(absl::string_view bytes);
  absl::Status ReadEntries(absl::string_view offsets, absl::string_view bytes);

  bool ReadAttribute(ByteStream in, Attribute* a);
  bool ReadNumber(ByteStream* in, Attribute* a);
  bool ReadDenseIntegers(ByteStream* in, Attribute* a);
  bool ReadType(ByteStream in, Type* t);
  bool ReadMemRef(ByteStream* in, bool with_space, Type* t);
  const Attribute* NextAttribute(ByteStream* in);
  const Type* NextType(ByteStream* in);
  bool ReadTypes(ByteStream* in, std::vector<const Type*>* types);
  bool ReadDims(ByteStream* in, Type* t);

  Module* module_;
  std::vector<std::string> strings_;
  std::vector<std::string> operation_names_;
  std::vector<Entry<Attribute>> attributes_;
  std::vector<Entry<Type>> types_;
  int depth_ = 0;
};

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_BYTECODE_TABLES_H_

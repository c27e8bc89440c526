#include "hlo_backend/evaluator/npz.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "hlo_backend/evaluator/strided.h"
#include "hlo_backend/evaluator/zip.h"

namespace ptxla::hlo {
namespace {

// NumPy's code of a type; raw bits for types that it does not have.
std::string CodeOf(PrimitiveType type) {
  const int bytes = StorageBytes(type);
  if (type == PrimitiveType::kPred) return "|b1";
  if (IsComplex(type)) return absl::StrCat("<c", bytes);
  if (type == PrimitiveType::kF16 || type == PrimitiveType::kF32 ||
      type == PrimitiveType::kF64) {
    return absl::StrCat("<f", bytes);
  }
  const bool is_signed = IsSigned(type);
  return absl::StrCat(bytes == 1 ? "|" : "<", is_signed ? "i" : "u", bytes);
}

// The code says all of the type.
bool HasOwnCode(PrimitiveType type) {
  return type == PrimitiveType::kPred || IsComplex(type) ||
         type == PrimitiveType::kF16 || type == PrimitiveType::kF32 ||
         type == PrimitiveType::kF64 ||
         (IsInteger(type) && BitWidth(type) >= 8);
}

// Types that NumPy has from elsewhere (ml_dtypes) are saved as bytes without a
// meaning. 0: the code has one.
int BytesWithoutMeaning(absl::string_view code) {
  if (code == "|V1" || code == "<V1" || code == "<f1") return 1;
  return code == "|V2" || code == "<V2" ? 2 : 0;
}

absl::StatusOr<PrimitiveType> TypeOfCode(absl::string_view code) {
  if (const int bytes = BytesWithoutMeaning(code); bytes > 0) {
    return bytes == 1 ? PrimitiveType::kU8 : PrimitiveType::kU16;
  }
  for (int k = 0; k <= static_cast<int>(PrimitiveType::kBuffer); ++k) {
    const PrimitiveType type = static_cast<PrimitiveType>(k);
    if (IsArrayType(type) && HasOwnCode(type) && CodeOf(type) == code) {
      return type;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("array type '", code, "' is not one of HLO's"));
}

// The text after 'key': up to `end` in the header's dictionary.
absl::StatusOr<absl::string_view> Field(absl::string_view header,
                                        absl::string_view key,
                                        absl::string_view begin,
                                        absl::string_view end) {
  const std::string quoted = absl::StrCat("'", key, "':");
  size_t at = header.find(quoted);
  if (at != absl::string_view::npos) {
    at = header.find(begin, at + quoted.size());
  }
  if (at == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("no '", key, "' in the array's header"));
  }
  at += begin.size();
  const size_t stop = header.find(end, at);
  if (stop == absl::string_view::npos) {
    return absl::InvalidArgumentError("unfinished array header");
  }
  return header.substr(at, stop - at);
}

constexpr absl::string_view kMagic("\x93NUMPY", 6);

// A .npy array and whether its type is only a number of bytes.
struct Array {
  Literal literal;
  bool bytes_only = false;
};

absl::StatusOr<Array> ReadArray(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < 10) {
    return absl::InvalidArgumentError("not a .npy array");
  }
  const int version = static_cast<uint8_t>(bytes[6]);
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  size_t start = 10;
  size_t size = byte(8) | byte(9) << 8;
  if (version >= 2) {
    if (bytes.size() < 12) return absl::InvalidArgumentError("cut short");
    size |= static_cast<size_t>(byte(10)) << 16 | static_cast<size_t>(byte(11))
                                                      << 24;
    start = 12;
  }
  if (size > bytes.size() - start) {
    return absl::InvalidArgumentError("the array's header is cut short");
  }
  const absl::string_view header = bytes.substr(start, size);
  ASSIGN_OR_RETURN(const absl::string_view code,
                   Field(header, "descr", "'", "'"));
  ASSIGN_OR_RETURN(const absl::string_view order,
                   Field(header, "fortran_order", " ", ","));
  ASSIGN_OR_RETURN(const absl::string_view dims_text,
                   Field(header, "shape", "(", ")"));
  ASSIGN_OR_RETURN(const PrimitiveType type, TypeOfCode(code));
  DimVector dims;
  int64_t count = 1;
  for (absl::string_view part :
       absl::StrSplit(dims_text, ',', absl::SkipWhitespace())) {
    int64_t dim;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0 ||
        (dim > 0 && count > (int64_t{1} << 40) / dim)) {
      return absl::InvalidArgumentError(
          absl::StrCat("bad array shape (", dims_text, ")"));
    }
    dims.push_back(dim);
    count *= dim;
  }
  const absl::string_view data = bytes.substr(start + size);
  const int element = StorageBytes(type);
  if (static_cast<int64_t>(data.size()) != count * element) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the array has ", data.size(), " bytes, not ", count * element));
  }
  std::vector<uint8_t> values(data.begin(), data.end());
  if (absl::StartsWith(order, "True") && count > 0) {
    DimVector from;
    int64_t stride = 1;
    for (int64_t d : dims) {
      from.push_back(stride);
      stride *= d;
    }
    CopyBox(dims, values.data(), RowMajorStrides(dims),
            reinterpret_cast<const uint8_t*>(data.data()), from, element);
  }
  return Array{Literal::FromBytes(Shape::Array(type, dims), std::move(values)),
               BytesWithoutMeaning(code) > 0};
}

}  // namespace

absl::StatusOr<Literal> ParseNpy(absl::string_view bytes) {
  ASSIGN_OR_RETURN(Array array, ReadArray(bytes));
  return std::move(array.literal);
}

std::string FormatNpy(const Literal& literal) {
  std::string dims;
  for (int64_t d : literal.shape().dims()) absl::StrAppend(&dims, d, ", ");
  if (literal.shape().rank() > 1) dims.resize(dims.size() - 2);
  if (literal.shape().rank() == 1) dims.resize(dims.size() - 1);
  std::string header =
      absl::StrCat("{'descr': '", CodeOf(literal.shape().type()),
                   "', 'fortran_order': False, 'shape': (", dims, "), }");
  // Data starts at a multiple of 64 bytes.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const int64_t bytes = literal.element_bytes();
  for (int64_t i = 0; literal.IsSplat() && i < literal.ElementCount(); ++i) {
    out.append(reinterpret_cast<const char*>(literal.element(0)), bytes);
  }
  if (!literal.IsSplat()) {
    out.append(reinterpret_cast<const char*>(literal.bytes().data()),
               literal.bytes().size());
  }
  return out;
}

absl::StatusOr<NamedLiterals> ParseNpz(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const ZipEntries entries, ReadZip(bytes));
  NamedLiterals arrays;
  for (const auto& [file, content] : entries) {
    std::string name = file;
    if (absl::EndsWith(name, ".npy")) name.resize(name.size() - 4);
    ASSIGN_OR_RETURN(Array array, ReadArray(content), _ << name);
    Literal literal = std::move(array.literal);
    const size_t dot = name.rfind('.');
    if (dot != std::string::npos) {
      const auto type =
          PrimitiveTypeFromName(absl::string_view(name).substr(dot + 1));
      if (type.has_value() && !HasOwnCode(*type)) {
        if (StorageBytes(*type) != literal.element_bytes()) {
          return absl::InvalidArgumentError(absl::StrCat(
              name, ": elements of ", literal.element_bytes(), " bytes"));
        }
        Shape shape = literal.shape();
        shape.set_type(*type);
        literal = Literal::FromBytes(
            shape, std::vector<uint8_t>(literal.bytes().begin(),
                                        literal.bytes().end()));
        name.resize(dot);
        array.bytes_only = false;
      }
    }
    if (array.bytes_only) {
      absl::StrAppend(&name, ".V", literal.element_bytes());
    }
    arrays.emplace_back(std::move(name), std::move(literal));
  }
  return arrays;
}

absl::StatusOr<std::string> FormatNpz(const NamedLiterals& arrays) {
  ZipEntries entries;
  for (const auto& [name, literal] : arrays) {
    const PrimitiveType type = literal.shape().type();
    if (!IsArrayType(type)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " is ", literal.shape().ToString(), ", not an array"));
    }
    entries.emplace_back(
        absl::StrCat(name, HasOwnCode(type) ? "" : ".",
                     HasOwnCode(type) ? "" : PrimitiveTypeName(type), ".npy"),
        FormatNpy(literal));
  }
  return WriteZip(entries);
}

absl::StatusOr<NamedLiterals> ReadNpz(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ASSIGN_OR_RETURN(NamedLiterals arrays, ParseNpz(bytes), _ << path);
  return arrays;
}

absl::Status WriteNpz(const std::string& path, const NamedLiterals& arrays) {
  ASSIGN_OR_RETURN(const std::string bytes, FormatNpz(arrays));
  return WriteFile(path, bytes);
}

}  // namespace ptxla::hlo

#include "hlo_backend/stablehlo/op_attributes.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/value_parser.h"

namespace ptxla::hlo::mlir {
namespace {

absl::Status Missing(Names names) {
  return absl::InvalidArgumentError(
      absl::StrCat("the attribute ", *names.begin(), " is missing"));
}

bool AppendInts(const Attr& attr, DimVector* out) {
  switch (attr.kind) {
    case Attr::Kind::kInt:
    case Attr::Kind::kBool:
      out->push_back(attr.number);
      return true;
    case Attr::Kind::kArray:
      for (const Attr& a : attr.list) {
        if (!AppendInts(a, out)) return false;
      }
      return true;
    case Attr::Kind::kDense:
      if (attr.dense->IsElided() || IsFloat(attr.dense->shape().type()) ||
          IsComplex(attr.dense->shape().type())) {
        return false;
      }
      for (int64_t i = 0; i < attr.dense->ElementCount(); ++i) {
        out->push_back(attr.dense->GetInt(i));
      }
      return true;
    default:
      return false;
  }
}

absl::StatusOr<DimVector> IntsOf(const Attr& attr, Names names) {
  DimVector out;
  if (AppendInts(attr, &out)) return out;
  return absl::InvalidArgumentError(absl::StrCat(
      "the attribute ", *names.begin(), " is no list of integers"));
}

}  // namespace

const Attr* FindAny(const AttrDict& dict, Names names) {
  for (absl::string_view name : names) {
    if (const Attr* attr = FindIn(dict, name)) return attr;
  }
  return nullptr;
}

absl::StatusOr<DimVector> Ints(const AttrDict& dict, Names names) {
  const Attr* attr = FindAny(dict, names);
  if (attr == nullptr) return Missing(names);
  return IntsOf(*attr, names);
}

absl::StatusOr<DimVector> IntsOr(const AttrDict& dict, Names names,
                                 DimVector absent) {
  const Attr* attr = FindAny(dict, names);
  if (attr == nullptr) return absent;
  return IntsOf(*attr, names);
}

absl::StatusOr<int64_t> Int(const AttrDict& dict, Names names) {
  const Attr* attr = FindAny(dict, names);
  if (attr == nullptr) return Missing(names);
  ASSIGN_OR_RETURN(const DimVector ints, IntsOf(*attr, names));
  if (ints.size() == 1) return ints[0];
  return absl::InvalidArgumentError(
      absl::StrCat("the attribute ", *names.begin(), " is no integer"));
}

int64_t IntOr(const AttrDict& dict, Names names, int64_t absent) {
  const auto value = Int(dict, names);
  return value.ok() ? *value : absent;
}

bool BoolOr(const AttrDict& dict, Names names, bool absent) {
  const Attr* attr = FindAny(dict, names);
  if (attr == nullptr) return absent;
  // A unit attribute is there or not.
  return attr->kind == Attr::Kind::kUnit || attr->number != 0;
}

double RealOr(const AttrDict& dict, Names names, double absent) {
  const Attr* attr = FindAny(dict, names);
  return attr == nullptr ? absent : attr->real;
}

std::string EnumWord(const Attr& attr) {
  if (attr.kind == Attr::Kind::kString || attr.kind == Attr::Kind::kSymbol) {
    return attr.text;
  }
  if (attr.kind == Attr::Kind::kType) return attr.type.text;
  if (attr.kind != Attr::Kind::kDialect) return "";
  // The last word.
  size_t end = attr.text.size();
  while (end > 0 && !absl::ascii_isalnum(attr.text[end - 1]) &&
         attr.text[end - 1] != '_') {
    --end;
  }
  size_t begin = end;
  while (begin > 0 && (absl::ascii_isalnum(attr.text[begin - 1]) ||
                       attr.text[begin - 1] == '_')) {
    --begin;
  }
  return attr.text.substr(begin, end - begin);
}

std::string EnumWord(const AttrDict& dict, Names names) {
  const Attr* attr = FindAny(dict, names);
  return attr == nullptr ? "" : EnumWord(*attr);
}

absl::StatusOr<AttrDict> Fields(const Attr& attr) {
  if (attr.kind == Attr::Kind::kDict) return attr.dict;
  const size_t open = attr.text.find('<');
  if (attr.kind != Attr::Kind::kDialect || open == std::string::npos) {
    return absl::InvalidArgumentError("expected an attribute with fields");
  }
  ValueParser parser{absl::string_view(attr.text)};
  parser.Seek(attr.text.data() + open + 1);
  AttrDict dict;
  if (parser.ParseFields(&dict, ">")) return dict;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot read the fields of ", attr.text));
}

absl::StatusOr<AttrDict> Fields(const AttrDict& dict, Names names) {
  const Attr* attr = FindAny(dict, names);
  if (attr == nullptr) return Missing(names);
  return Fields(*attr);
}

absl::Status AddFrontendAttributes(const AttrDict& dict,
                                   FrontendAttributes* to) {
  const Attr* frontend = FindAny(dict, {"mhlo.frontend_attributes"});
  if (frontend == nullptr) return absl::OkStatus();
  for (const auto& [key, value] : frontend->dict) {
    if (!IsName(key)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "frontend attribute \"", absl::CHexEscape(key), "\" is no name"));
    }
    (*to)[key] = value.text;
  }
  return absl::OkStatus();
}

std::string AttrText(const Attr& attr) {
  switch (attr.kind) {
    case Attr::Kind::kUnit:
      return "unit";
    case Attr::Kind::kBool:
      return attr.number ? "true" : "false";
    case Attr::Kind::kInt:
    case Attr::Kind::kFloat:
      return attr.type.text.empty()
                 ? attr.text
                 : absl::StrCat(attr.text, " : ", attr.type.text);
    case Attr::Kind::kString:
      return Quoted(attr.text);
    case Attr::Kind::kSymbol:
      return SymbolText(attr.text);
    case Attr::Kind::kDialect:
      return attr.text;
    case Attr::Kind::kType:
      return attr.type.text;
    case Attr::Kind::kDense:
      // Types that MLIR has no name for were not read.
      return DenseText(*attr.dense).value_or("dense<>");
    case Attr::Kind::kArray:
      return absl::StrCat("[",
                          absl::StrJoin(attr.list, ", ",
                                        [](std::string* o, const Attr& a) {
                                          o->append(AttrText(a));
                                        }),
                          "]");
    case Attr::Kind::kDict:
      return absl::StrCat("{",
                          absl::StrJoin(attr.dict, ", ",
                                        [](std::string* o, const auto& pair) {
                                          absl::StrAppend(
                                              o, pair.first, " = ",
                                              AttrText(pair.second));
                                        }),
                          "}");
  }
  return "";
}

absl::StatusOr<PrecisionConfig> PrecisionOf(const AttrDict& dict) {
  PrecisionConfig config;
  const Attr* attr = FindAny(dict, {"precision_config", "precision"});
  if (attr == nullptr) return config;
  bool any = false;
  for (const Attr& a : attr->list) {
    const std::string word = absl::AsciiStrToLower(EnumWord(a));
    const int index = IndexOf(kPrecisions, word);
    if (index < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown precision \"", word, "\""));
    }
    config.operands.push_back(static_cast<Precision>(index));
    any |= index != 0;
  }
  if (!any) config.operands.clear();
  return config;
}

absl::StatusOr<Window> WindowOf(const AttrDict& dict, const DimVector& sizes) {
  const size_t rank = sizes.size();
  const DimVector ones(rank, 1), zeros(rank, 0);
  ASSIGN_OR_RETURN(const DimVector strides,
                   IntsOr(dict, {"window_strides"}, ones));
  ASSIGN_OR_RETURN(const DimVector base,
                   IntsOr(dict, {"base_dilations", "lhs_dilation"}, ones));
  ASSIGN_OR_RETURN(const DimVector dilation,
                   IntsOr(dict, {"window_dilations", "rhs_dilation"}, ones));
  ASSIGN_OR_RETURN(DimVector padding,
                   IntsOr(dict, {"padding"}, DimVector(2 * rank, 0)));
  ASSIGN_OR_RETURN(const DimVector reversal,
                   IntsOr(dict, {"window_reversal"}, zeros));
  if (strides.size() != rank || base.size() != rank ||
      dilation.size() != rank || padding.size() != 2 * rank ||
      reversal.size() != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("the lists of a window have ", rank, " elements each"));
  }
  Window window;
  for (size_t d = 0; d < rank; ++d) {
    window.dims.push_back({sizes[d], strides[d], padding[2 * d],
                           padding[2 * d + 1], dilation[d], base[d],
                           reversal[d] != 0});
  }
  return window;
}

}  // namespace ptxla::hlo::mlir

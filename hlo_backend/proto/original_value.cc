// origin={...}: which instructions of the program before optimisation the
// leaves of a value come from.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/repeated_fields.h"

namespace ptxla::hlo {
namespace {

constexpr absl::string_view kSynthetic = "[synthetic_call]";

// Reads `({"a"}, {"b" {0}})`: braces are leaves, parentheses tuples.
class OriginReader {
 public:
  OriginReader(absl::string_view text, proto::OriginalValueProto* out)
      : text_(text), out_(*out) {}

  bool Read() {
    if (!Take('{')) return false;
    if (text_.substr(at_, kSynthetic.size()) == kSynthetic) {
      at_ += kSynthetic.size();
      out_.set_is_synthetic_call(true);
    } else if (!Tree(0)) {
      return false;
    }
    return Take('}') && at_ == text_.size();
  }

 private:
  bool Is(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    if (!Is(c)) return false;
    ++at_;
    return true;
  }
  bool Tree(int depth) {
    if (depth > kMaxProtoNesting) return false;
    if (!Take('(')) return Leaf();
    for (int64_t i = 0; !Is(')'); ++i) {
      index_.push_back(i);
      if (!Tree(depth + 1)) return false;
      index_.pop_back();
      if (!Take(',')) break;
    }
    return Take(')');
  }
  bool Leaf() {
    if (!Take('{')) return false;
    if (Take('}')) return true;
    if (!Take('"')) return false;
    const size_t end = text_.find('"', at_);
    if (end == absl::string_view::npos) return false;
    auto* element = out_.add_elements();
    for (int64_t i : index_) element->add_shape_index(i);
    auto* array = element->mutable_original_array();
    array->set_instruction_name(std::string(text_.substr(at_, end - at_)));
    at_ = end + 1;
    if (Take('{')) {
      while (!Is('}')) {
        size_t stop = at_;
        while (stop < text_.size() && text_[stop] >= '0' && text_[stop] <= '9')
          ++stop;
        int64_t number;
        if (!absl::SimpleAtoi(text_.substr(at_, stop - at_), &number)) {
          return false;
        }
        array->add_shape_index(number);
        at_ = stop;
        if (!Take(',')) break;
      }
      if (!Take('}')) return false;
    }
    return Take('}');
  }

  absl::string_view text_;
  size_t at_ = 0;
  std::vector<int64_t> index_;
  proto::OriginalValueProto& out_;
};

void Append(const proto::OriginalValueProto& in, const Shape& shape,
            ShapeIndex* index, std::string* out) {
  if (shape.IsTuple()) {
    out->push_back('(');
    for (int i = 0; i < shape.element_count_of_tuple(); ++i) {
      if (i > 0) out->append(", ");
      index->push_back(i);
      Append(in, shape.element(i), index, out);
      index->pop_back();
    }
    out->push_back(')');
    return;
  }
  out->push_back('{');
  for (const auto& e : in.elements()) {
    if (!std::equal(e.shape_index().begin(), e.shape_index().end(),
                    index->begin(), index->end())) {
      continue;
    }
    absl::StrAppend(out, "\"", e.original_array().instruction_name(), "\"");
    if (!e.original_array().shape_index().empty()) {
      absl::StrAppend(
          out, " {", absl::StrJoin(e.original_array().shape_index(), ","), "}");
    }
    break;
  }
  out->push_back('}');
}

}  // namespace

absl::Status OriginToProto(const std::string& text,
                           proto::OriginalValueProto* out) {
  if (OriginReader(text, out).Read()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot read origin=", text));
}

std::string OriginFromProto(const proto::OriginalValueProto& in,
                            const Shape& shape) {
  if (in.is_synthetic_call()) return absl::StrCat("{", kSynthetic, "}");
  std::string out = "{";
  ShapeIndex index;
  Append(in, shape, &index, &out);
  return out + "}";
}

}  // namespace ptxla::hlo

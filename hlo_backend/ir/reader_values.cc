// Values of attributes: windows, paddings, metadata, aliasing and the like.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/reader.h"

namespace ptxla::hlo {

bool Reader::WindowValue(Window* window) {
  window->dims.clear();
  if (!Expect('{')) return false;
  while (!Is('}')) {
    absl::string_view key;
    if (!Name(&key) || !Expect('=') || !WindowField(key, window)) return false;
    Accept(',');
  }
  return Expect('}');
}

bool Reader::WindowField(absl::string_view key, Window* window) {
  const char* begin = at();
  absl::string_view word;
  if (!Word(&word)) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(word, 'x');
  if (window->dims.empty()) window->dims.resize(parts.size());
  if (window->dims.size() != parts.size()) {
    return Fail(begin, absl::StrCat(key, "= has ", parts.size(),
                                    " dimensions, the others have ",
                                    window->dims.size()));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    WindowDim& d = window->dims[i];
    auto number = [&](absl::string_view text, int64_t* value) {
      if (absl::SimpleAtoi(text, value)) return true;
      return Fail(begin, absl::StrCat("expected numbers joined by 'x', got \"",
                                      word, "\""));
    };
    bool ok = true;
    if (key == "size") {
      ok = number(parts[i], &d.size);
    } else if (key == "stride") {
      ok = number(parts[i], &d.stride);
    } else if (key == "lhs_dilate") {
      ok = number(parts[i], &d.base_dilation);
    } else if (key == "rhs_dilate") {
      ok = number(parts[i], &d.window_dilation);
    } else if (key == "rhs_reversal") {
      int64_t reversed;
      ok = number(parts[i], &reversed);
      d.reversal = ok && reversed != 0;
    } else if (key == "pad") {
      const std::vector<absl::string_view> two = absl::StrSplit(parts[i], '_');
      if (two.size() != 2) {
        return Fail(begin, "expected pad=low_high for each dimension");
      }
      ok = number(two[0], &d.padding_low) && number(two[1], &d.padding_high);
    } else {
      return Fail(begin, absl::StrCat("unknown window field \"", key, "\""));
    }
    if (!ok) return false;
  }
  return true;
}

bool Reader::ConvDimsValue(ConvDims* dims) {
  const char* begin = at();
  absl::string_view word;
  if (!Word(&word)) return false;
  auto fail = [&](absl::string_view why) {
    return Fail(begin, absl::StrCat("dim_labels=", word, ": ", why));
  };
  const size_t underscore = word.find('_');
  const size_t arrow = word.find("->");
  if (underscore == absl::string_view::npos ||
      arrow == absl::string_view::npos || arrow < underscore) {
    return fail("expected lhs_rhs->output");
  }
  const absl::string_view parts[] = {
      word.substr(0, underscore),
      word.substr(underscore + 1, arrow - underscore - 1),
      word.substr(arrow + 2)};
  struct Side {
    char first, second;
    int64_t* first_dim;
    int64_t* second_dim;
    DimVector* spatial;
  } sides[] = {{'b', 'f', &dims->input_batch, &dims->input_feature,
                &dims->input_spatial},
               {'i', 'o', &dims->kernel_input_feature,
                &dims->kernel_output_feature, &dims->kernel_spatial},
               {'b', 'f', &dims->output_batch, &dims->output_feature,
                &dims->output_spatial}};
  for (int s = 0; s < 3; ++s) {
    const Side& side = sides[s];
    *side.first_dim = *side.second_dim = -1;
    const int64_t known =
        parts[s].size() - std::count(parts[s].begin(), parts[s].end(), '?');
    side.spatial->assign(std::max<int64_t>(0, known - 2), -1);
    for (size_t i = 0; i < parts[s].size(); ++i) {
      const char c = parts[s][i];
      int64_t* target = nullptr;
      if (c == '?') continue;
      if (c == side.first) target = side.first_dim;
      if (c == side.second) target = side.second_dim;
      if (c >= '0' && c <= '9' &&
          c - '0' < static_cast<int>(side.spatial->size())) {
        target = &(*side.spatial)[c - '0'];
      }
      if (target == nullptr || *target != -1) {
        return fail(absl::StrCat("unexpected \"", std::string(1, c), "\""));
      }
      *target = static_cast<int64_t>(i);
    }
    if (*side.first_dim < 0 || *side.second_dim < 0 ||
        side.spatial->size() != dims->input_spatial.size()) {
      return fail("a label is missing");
    }
  }
  return true;
}

bool Reader::PaddingValue(PadAttrs* padding) {
  const char* begin = at();
  padding->dims.clear();
  // A scalar's padding is empty.
  if (Is(',') || Is(')') || AtEnd()) return true;
  absl::string_view word;
  if (!Word(&word)) return false;
  for (absl::string_view part : absl::StrSplit(word, 'x')) {
    const std::vector<absl::string_view> numbers = absl::StrSplit(part, '_');
    PaddingDim d;
    if (numbers.size() < 2 || numbers.size() > 3 ||
        !absl::SimpleAtoi(numbers[0], &d.low) ||
        !absl::SimpleAtoi(numbers[1], &d.high) ||
        (numbers.size() == 3 && !absl::SimpleAtoi(numbers[2], &d.interior))) {
      return Fail(begin, absl::StrCat("expected low_high or "
                                      "low_high_interior, joined by 'x', got "
                                      "\"",
                                      word, "\""));
    }
    padding->dims.push_back(d);
  }
  return true;
}

bool Reader::SliceValue(SliceAttrs* slice) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    int64_t start, limit, stride = 1;
    if (!Expect('[') || !Int(&start) || !Expect(':') || !Int(&limit)) {
      return false;
    }
    if (Accept(':') && !Int(&stride)) return false;
    if (!Expect(']')) return false;
    slice->starts.push_back(start);
    slice->limits.push_back(limit);
    slice->strides.push_back(stride);
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool Reader::PrecisionValue(PrecisionConfig* precision) {
  precision->operands.clear();
  if (!Expect('{')) return false;
  while (!Is('}')) {
    Precision p;
    if (!EnumValue(kPrecisions, &p)) return false;
    precision->operands.push_back(p);
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool Reader::ResultAccuracyValue(ResultAccuracyAttrs* accuracy) {
  if (!Expect('{')) return false;
  if (AcceptName("mode")) {
    absl::string_view mode;
    if (!Expect('=') || !Name(&mode)) return false;
    accuracy->mode = mode == "highest" ? ResultAccuracyAttrs::Mode::kHighest
                                       : ResultAccuracyAttrs::Mode::kDefault;
    return Expect('}');
  }
  if (!ExpectName("tolerance") || !Expect('=') || !Expect('{')) return false;
  accuracy->mode = ResultAccuracyAttrs::Mode::kTolerance;
  while (!Is('}')) {
    absl::string_view key;
    if (!Name(&key) || !Expect('=')) return false;
    const bool ok = key == "atol"   ? Double(&accuracy->atol)
                    : key == "rtol" ? Double(&accuracy->rtol)
                    : key == "ulps" ? Int(&accuracy->ulps)
                                    : Expected("atol, rtol or ulps");
    if (!ok) return false;
    if (!Accept(',')) break;
  }
  return Expect('}') && Expect('}');
}

bool Reader::AliasingValue(std::vector<OutputOperandAlias>* aliasing) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    OutputOperandAlias a;
    if (!ShapeIndexValue(&a.output) || !Expect(':') || !Expect('(') ||
        !Int(&a.operand) || !Expect(',') ||
        !ShapeIndexValue(&a.operand_index) || !Expect(')')) {
      return false;
    }
    aliasing->push_back(std::move(a));
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool Reader::MetadataValue(Metadata* m) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    absl::string_view key;
    if (!Name(&key) || !Expect('=')) return false;
    bool ok = true;
    if (key == "op_name") {
      ok = String(&m->op_name);
    } else if (key == "op_type") {
      ok = String(&m->op_type);
    } else if (key == "source_file") {
      ok = String(&m->source_file);
    } else if (key == "source_line") {
      ok = Int(&m->source_line);
    } else if (key == "source_end_line") {
      ok = Int(&m->source_end_line);
    } else if (key == "source_column") {
      ok = Int(&m->source_column);
    } else if (key == "source_end_column") {
      ok = Int(&m->source_end_column);
    } else if (key == "stack_frame_id") {
      ok = Int(&m->stack_frame_id);
    } else if (key == "deduplicated_name") {
      ok = String(&m->deduplicated_name);
    } else if (key == "scheduling_name") {
      ok = String(&m->scheduling_name);
    } else if (key == "profile_type") {
      ok = Raw(&m->profile_type);
    } else if (key == "metadata_payload") {
      if (Is('{')) {
        ok = Raw(&m->metadata_payload);
      } else {
        const char* begin = at();
        lex_.Next();
        m->metadata_payload = std::string(begin, at() - begin);
      }
    } else if (key == "size_of_generated_code_in_bytes") {
      ok = Int(&m->size_of_generated_code_in_bytes);
    } else if (key == "size_of_memory_working_set_in_bytes") {
      ok = Int(&m->size_of_memory_working_set_in_bytes);
    } else {
      // Fields that XLA has dropped since (creation_pass_id ...) say nothing
      // about the program.
      std::string ignored;
      if (Is('{')) {
        ok = Raw(&ignored);
      } else {
        lex_.Next();
      }
    }
    if (!ok) return false;
    Accept(',');
  }
  return Expect('}');
}

bool Reader::FrontendValue(FrontendAttributes* attributes) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    std::string key, value;
    if (token().kind == TokenKind::kString) {
      if (!String(&key)) return false;
    } else if (!Name(&key)) {
      return false;
    }
    if (!Expect('=')) return false;
    if (token().kind == TokenKind::kString) {
      if (!String(&value)) return false;
    } else if (Is('{')) {
      if (!Raw(&value)) return false;
    } else {
      absl::string_view word;
      if (!Word(&word)) return false;
      value = std::string(word);
    }
    (*attributes)[std::move(key)] = std::move(value);
    if (!Accept(',')) break;
  }
  return Expect('}');
}

}  // namespace ptxla::hlo

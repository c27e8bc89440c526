#include "hlo_backend/evaluator/fill.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace ptxla::hlo {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class Fn>
void WithWord(int element_bytes, Fn fn) {
  switch (element_bytes) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    case 16:
      return fn(Bytes16{});
    default:
      CHECK(false) << "element of " << element_bytes << " bytes";
  }
}

}  // namespace

void Fill(uint8_t* out, const uint8_t* element, int element_bytes,
          int64_t count) {
  WithWord(element_bytes, [&](auto word) {
    using Word = decltype(word);
    std::memcpy(&word, element, sizeof(Word));
    std::fill_n(reinterpret_cast<Word*>(out), count, word);
  });
}

void CopyStrided(uint8_t* out, int64_t out_stride, const uint8_t* in,
                 int64_t in_stride, int element_bytes, int64_t count) {
  if (in_stride == 1 && out_stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(count) * element_bytes);
    return;
  }
  if (in_stride == 0 && out_stride == 1) {
    if (count > 0) Fill(out, in, element_bytes, count);
    return;
  }
  WithWord(element_bytes, [&](auto word) {
    using Word = decltype(word);
    const Word* source = reinterpret_cast<const Word*>(in);
    Word* target = reinterpret_cast<Word*>(out);
    for (int64_t i = 0; i < count; ++i) {
      target[i * out_stride] = source[i * in_stride];
    }
  });
}

}  // namespace ptxla::hlo

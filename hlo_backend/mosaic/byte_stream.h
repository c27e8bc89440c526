// Bytes of MLIR bytecode, read front to back. Past the end, or where a number
// is out of range, everything is 0 and `ok` turns false: readers look once, at
// the end of a piece.
//
//   ByteStream in(bytes);
//   const uint64_t count = in.Varint();
//   if (!in.ok()) return in.Error("the operations");
#ifndef PTXLA_HLO_BACKEND_MOSAIC_BYTE_STREAM_H_
#define PTXLA_HLO_BACKEND_MOSAIC_BYTE_STREAM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ptxla::mosaic {

class ByteStream {
 public:
  explicit ByteStream(absl::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return !ok_ || at_ >= bytes_.size(); }
  size_t position() const { return at_; }
  size_t remaining() const { return ok_ ? bytes_.size() - at_ : 0; }
  void Fail() { ok_ = false; }
  absl::Status Error(absl::string_view where) const {
    return absl::InvalidArgumentError(
        absl::StrCat("Mosaic bytecode: ", where, " end early or are broken"));
  }

  uint8_t Byte() {
    if (remaining() < 1) return Fail(), 0;
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  // As many bytes as the first one has zeros at its low end, plus one; nine if
  // it is 0.
  uint64_t Varint() {
    const uint8_t first = Byte();
    if (!ok_) return 0;
    if (first & 1) return first >> 1;
    const int extra = first == 0 ? 8 : __builtin_ctz(first);
    uint64_t value = first == 0 ? 0 : first >> (extra + 1);
    const int shift = first == 0 ? 0 : 7 - extra;
    for (int k = 0; k < extra; ++k) {
      value |= static_cast<uint64_t>(Byte()) << (shift + 8 * k);
    }
    return ok_ ? value : 0;
  }
  int64_t SignedVarint() {
    const uint64_t v = Varint();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  // An index into something that has `size` elements.
  size_t Index(size_t size) {
    const uint64_t v = Varint();
    if (v >= size) return Fail(), 0;
    return static_cast<size_t>(v);
  }
  // A number of things that take a byte each at least.
  size_t Count() {
    const uint64_t v = Varint();
    if (v > remaining()) return Fail(), 0;
    return static_cast<size_t>(v);
  }
  absl::string_view Bytes(size_t n) {
    if (n > remaining()) return Fail(), absl::string_view();
    const absl::string_view piece = bytes_.substr(at_, n);
    at_ += n;
    return piece;
  }
  // Up to a zero byte, which is read too.
  absl::string_view ZeroTerminated() {
    const size_t end = bytes_.find('\0', at_);
    if (!ok_ || end == absl::string_view::npos) {
      return Fail(), absl::string_view();
    }
    const absl::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

 private:
  absl::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_BYTE_STREAM_H_

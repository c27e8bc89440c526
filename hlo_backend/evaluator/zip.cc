#include "hlo_backend/evaluator/zip.h"

#include <zlib.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::hlo {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr int kStored = 0;
constexpr int kDeflated = 8;
constexpr uint64_t kLimit = 0xffffffffull;

// Little-endian fields; out of bounds reads give 0 and are noticed by ok().
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}
  uint32_t Number(uint64_t at, int size) {
    if (at + size > bytes_.size()) {
      ok_ = false;
      return 0;
    }
    uint32_t value = 0;
    for (int i = size; i-- > 0;) {
      value = (value << 8) | static_cast<uint8_t>(bytes_[at + i]);
    }
    return value;
  }
  absl::string_view Bytes(uint64_t at, uint64_t size) {
    if (at > bytes_.size() || size > bytes_.size() - at) {
      ok_ = false;
      return "";
    }
    return bytes_.substr(at, size);
  }
  bool ok() const { return ok_; }

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

void Append(std::string* out, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

uint32_t Checksum(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
            static_cast<uInt>(bytes.size())));
}

absl::StatusOr<std::string> Inflate(absl::string_view packed, uint32_t size) {
  std::string out(size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return absl::InternalError("zlib cannot start");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = size;
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!whole) return absl::InvalidArgumentError("damaged zip entry");
  return out;
}

absl::StatusOr<std::string> Deflate(absl::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return absl::InternalError("zlib cannot start");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("zlib failed");
  return out;
}

}  // namespace

absl::StatusOr<ZipEntries> ReadZip(absl::string_view bytes) {
  const absl::Status broken =
      absl::InvalidArgumentError("not a zip archive, or a damaged one");
  Reader reader(bytes);
  // The end record is last but for a comment.
  constexpr uint64_t kEndSize = 22;
  if (bytes.size() < kEndSize) return broken;
  uint64_t end = bytes.size() - kEndSize;
  while (reader.Number(end, 4) != kEnd) {
    if (end == 0 || bytes.size() - end > 65557) return broken;
    --end;
  }
  const uint32_t count = reader.Number(end + 10, 2);
  uint64_t at = reader.Number(end + 16, 4);
  ZipEntries entries;
  for (uint32_t i = 0; i < count; ++i) {
    if (reader.Number(at, 4) != kCentralHeader) return broken;
    const uint32_t flags = reader.Number(at + 8, 2);
    const uint32_t method = reader.Number(at + 10, 2);
    const uint32_t checksum = reader.Number(at + 16, 4);
    const uint32_t packed_size = reader.Number(at + 20, 4);
    const uint32_t size = reader.Number(at + 24, 4);
    const uint32_t name_size = reader.Number(at + 28, 2);
    const uint64_t local = reader.Number(at + 42, 4);
    const std::string name(reader.Bytes(at + 46, name_size));
    at +=
        46 + name_size + reader.Number(at + 30, 2) + reader.Number(at + 32, 2);
    if (packed_size == kLimit || size == kLimit) {
      return absl::UnimplementedError("zip64 archives");
    }
    if (flags & 1) return absl::UnimplementedError("encrypted archives");
    if (reader.Number(local, 4) != kLocalHeader) return broken;
    const uint64_t data = local + 30 + reader.Number(local + 26, 2) +
                          reader.Number(local + 28, 2);
    const absl::string_view packed = reader.Bytes(data, packed_size);
    if (!reader.ok()) return broken;
    std::string content;
    if (method == kStored) {
      content = std::string(packed);
    } else if (method == kDeflated) {
      // Deflate shrinks to no less than about a thousandth.
      if (size / 1100 > packed_size + 64) return broken;
      ASSIGN_OR_RETURN(content, Inflate(packed, size), _ << name);
    } else {
      return absl::UnimplementedError(
          absl::StrCat(name, ": zip method ", method));
    }
    if (Checksum(content) != checksum) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": wrong checksum"));
    }
    entries.emplace_back(name, std::move(content));
  }
  return entries;
}

absl::StatusOr<std::string> WriteZip(const ZipEntries& entries) {
  std::string out;
  std::string directory;
  for (const auto& [name, content] : entries) {
    ASSIGN_OR_RETURN(const std::string packed, Deflate(content));
    if (content.size() >= kLimit || out.size() + packed.size() >= kLimit) {
      return absl::ResourceExhaustedError(
          "more than 4 GiB do not fit into a zip archive");
    }
    const uint32_t local = static_cast<uint32_t>(out.size());
    // Version 2.0, no flags, deflated, 1 January 1980, 00:00.
    std::string common;
    Append(&common, 20, 2);
    Append(&common, 0, 2);
    Append(&common, kDeflated, 2);
    Append(&common, 0, 2);
    Append(&common, 0x21, 2);
    Append(&common, Checksum(content), 4);
    Append(&common, static_cast<uint32_t>(packed.size()), 4);
    Append(&common, static_cast<uint32_t>(content.size()), 4);
    Append(&common, static_cast<uint32_t>(name.size()), 2);
    Append(&common, 0, 2);
    Append(&out, kLocalHeader, 4);
    absl::StrAppend(&out, common, name, packed);
    Append(&directory, kCentralHeader, 4);
    Append(&directory, 20, 2);
    absl::StrAppend(&directory, common);
    Append(&directory, 0, 2);  // comment
    Append(&directory, 0, 2);  // disk
    Append(&directory, 0, 2);  // attributes
    Append(&directory, 0, 4);
    Append(&directory, local, 4);
    absl::StrAppend(&directory, name);
  }
  const uint32_t start = static_cast<uint32_t>(out.size());
  absl::StrAppend(&out, directory);
  Append(&out, kEnd, 4);
  Append(&out, 0, 4);
  Append(&out, static_cast<uint32_t>(entries.size()), 2);
  Append(&out, static_cast<uint32_t>(entries.size()), 2);
  Append(&out, static_cast<uint32_t>(directory.size()), 4);
  Append(&out, start, 4);
  Append(&out, 0, 2);
  return out;
}

}  // namespace ptxla::hlo

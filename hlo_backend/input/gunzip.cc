#include "hlo_backend/input/gunzip.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMaxContent = size_t{1} << 32;
constexpr int kGzipWindow = 15 + 16;  // zlib: 32 KiB window, gzip header

}  // namespace

bool IsGzip(absl::string_view bytes) {
  return bytes.size() >= 3 && bytes[0] == '\x1f' && bytes[1] == '\x8b' &&
         bytes[2] == 8;
}

absl::StatusOr<std::string> Gunzip(absl::string_view bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
    return absl::InternalError("cannot start zlib");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out, buffer(1 << 16, '\0');
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(&buffer[0]);
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, 0, buffer.size() - stream.avail_out);
    if (out.size() > kMaxContent) {
      code = Z_MEM_ERROR;
    } else if (code == Z_STREAM_END &&
               IsGzip({reinterpret_cast<const char*>(stream.next_in),
                       stream.avail_in})) {
      code = inflateReset(&stream);  // another member follows
    } else if (code == Z_OK && stream.avail_in == 0 &&
               stream.avail_out == buffer.size()) {
      code = Z_BUF_ERROR;
    }
  }
  inflateEnd(&stream);
  if (code == Z_STREAM_END) return out;
  return absl::InvalidArgumentError(
      code == Z_MEM_ERROR ? "the gzip file holds more than 4 GiB"
                          : "the gzip file is broken or ends too early");
}

}  // namespace ptxla::hlo

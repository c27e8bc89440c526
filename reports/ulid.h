// ULIDs: 26 characters that sort by time and do not collide between machines.
#ifndef PTXLA_REPORTS_ULID_H_
#define PTXLA_REPORTS_ULID_H_

#include <cstdint>
#include <string>

namespace ptxla::reports {

// 48 bits of milliseconds since 1970 and 80 random bits (16 of `high`, 64 of
// `low`) in Crockford's base 32: Ulid(0, 0, 0) is 26 times "0".
std::string Ulid(int64_t unix_ms, uint16_t high, uint64_t low);

// With random bits of the operating system.
std::string NewUlid(int64_t unix_ms);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_ULID_H_

// Strong types for physical quantities.
//
// A quantity is explicit to construct and adds only to itself, so that cycles,
// bytes and picoseconds cannot be mixed by accident. The cross products that
// physics allows are declared below, and no others.
//
//   Bytes b(4096);
//   Picoseconds t = b / BytesPerSecond(819e9);        // rounds up
//   Cycles c = Clock(Hertz(1.75e9)).CyclesCeil(t);
//
// Simulated time is int64 picoseconds (106 days) or int64 core cycles; seconds
// as double appear in reports only.
#ifndef PTXLA_BASE_UNITS_H_
#define PTXLA_BASE_UNITS_H_

#include <cmath>
#include <cstdint>
#include <ostream>

namespace ptxla {

template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  template <class T>
  explicit constexpr Quantity(T value) : value_(static_cast<Rep>(value)) {}

  constexpr Rep count() const { return value_; }

  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, int64_t k) {
    return Quantity(a.value_ * static_cast<Rep>(k));
  }
  friend constexpr Quantity operator*(int64_t k, Quantity a) { return a * k; }
  friend constexpr bool operator==(Quantity a, Quantity b) {
    return a.value_ == b.value_;
  }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return !(a == b); }
  friend constexpr bool operator<(Quantity a, Quantity b) {
    return a.value_ < b.value_;
  }
  friend constexpr bool operator>(Quantity a, Quantity b) { return b < a; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return !(b < a); }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return !(a < b); }
  friend std::ostream& operator<<(std::ostream& os, Quantity q) {
    return os << q.value_ << Tag::kSuffix;
  }
  template <class H>
  friend H AbslHashValue(H h, Quantity q) {
    return H::combine(std::move(h), q.value_);
  }

 private:
  Rep value_{};
};

struct CyclesTag {
  static constexpr char kSuffix[] = " cycles";
};
struct PicosecondsTag {
  static constexpr char kSuffix[] = " ps";
};
struct BytesTag {
  static constexpr char kSuffix[] = " B";
};
struct FlopsTag {
  static constexpr char kSuffix[] = " flop";
};
struct HertzTag {
  static constexpr char kSuffix[] = " Hz";
};
struct BytesPerSecondTag {
  static constexpr char kSuffix[] = " B/s";
};
struct FlopsPerSecondTag {
  static constexpr char kSuffix[] = " flop/s";
};

using Cycles = Quantity<CyclesTag, int64_t>;
using Picoseconds = Quantity<PicosecondsTag, int64_t>;
using Bytes = Quantity<BytesTag, int64_t>;
using Flops = Quantity<FlopsTag, int64_t>;
using Hertz = Quantity<HertzTag, double>;
using BytesPerSecond = Quantity<BytesPerSecondTag, double>;
using FlopsPerSecond = Quantity<FlopsPerSecondTag, double>;

inline constexpr double kPicosecondsPerSecond = 1e12;

// A duration rounds up: a transfer is over when its last byte has arrived.
inline Picoseconds operator/(Bytes b, BytesPerSecond rate) {
  return Picoseconds(std::ceil(static_cast<double>(b.count()) *
                               kPicosecondsPerSecond / rate.count()));
}
inline Picoseconds operator/(Flops f, FlopsPerSecond rate) {
  return Picoseconds(std::ceil(static_cast<double>(f.count()) *
                               kPicosecondsPerSecond / rate.count()));
}

inline double ToSeconds(Picoseconds t) {
  return static_cast<double>(t.count()) / kPicosecondsPerSecond;
}
inline Picoseconds FromSeconds(double s) {
  return Picoseconds(std::llround(s * kPicosecondsPerSecond));
}

// The only bridge between cycles and picoseconds. Edge n of the clock is at
// round(n / frequency): it is computed from n, so errors do not add up.
class Clock {
 public:
  explicit constexpr Clock(Hertz frequency) : frequency_(frequency) {}

  constexpr Hertz frequency() const { return frequency_; }

  Picoseconds ToTime(Cycles c) const {
    return Picoseconds(
        std::llround(static_cast<double>(c.count()) * kPicosecondsPerSecond /
                     frequency_.count()));
  }
  // The first edge at or after `t`.
  Cycles CyclesCeil(Picoseconds t) const {
    Cycles c(std::floor(static_cast<double>(t.count()) * frequency_.count() /
                        kPicosecondsPerSecond));
    while (ToTime(c) < t) c += Cycles(1);
    return c;
  }

 private:
  Hertz frequency_;
};

template <class T>
constexpr T CeilOfRatio(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
constexpr T RoundUpTo(T a, T multiple) {
  return CeilOfRatio(a, multiple) * multiple;
}
// Towards minus infinity; b > 0.
constexpr int64_t FloorOfRatio(int64_t a, int64_t b) {
  return (a >= 0 ? a : a - b + 1) / b;
}
// The smallest k with 2^k >= n.
constexpr int CeilLog2(int64_t n) {
  int k = 0;
  while ((int64_t{1} << k) < n) ++k;
  return k;
}

}  // namespace ptxla

#endif  // PTXLA_BASE_UNITS_H_

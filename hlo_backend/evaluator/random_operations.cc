// rng-bit-generator, rng, rng-get-and-update-state.
#include <cstring>

#include "base/hash.h"
#include "base/numerics/random.h"
#include "base/numerics/tiled_words.h"
#include "base/numerics/transcendental64.h"
#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

uint64_t Join(uint32_t low, uint32_t high) {
  return (static_cast<uint64_t>(high) << 32) | low;
}

// The state as 64-bit words: u64[n], or u32[2n] (as JAX gives it).
std::vector<uint64_t> StateWords(const Value& state) {
  const Value dense = state.Dense();
  std::vector<uint64_t> words(dense.count() * dense.element_bytes() / 8);
  std::memcpy(words.data(), dense.data(), words.size() * 8);
  return words;
}

Value StateValue(const std::vector<uint64_t>& words, const Shape& shape) {
  Value v = Value::NewArray(shape);
  std::memcpy(v.Mutable(), words.data(), v.count() * v.element_bytes());
  return v;
}

// Low bits of `word` stored as an element of `bytes` bytes.
void Store(uint8_t* out, uint64_t word, int bytes) {
  std::memcpy(out, &word, bytes);
}

// XLA's RngBitGeneratorExpander for rng_three_fry: one dimension (the first
// even one, else the largest) is cut in halves that take the two words of a
// block; the state counts blocks.
absl::Status ThreeFry(std::vector<uint64_t>* state, Value* bits) {
  if (state->size() < 2) {
    return absl::InvalidArgumentError("rng_three_fry takes a state of u64[2]");
  }
  const uint64_t key = (*state)[0];
  const std::array<uint32_t, 2> key_words = {static_cast<uint32_t>(key),
                                             static_cast<uint32_t>(key >> 32)};
  auto block = [&](uint64_t counter) {
    return numerics::ThreeFry2x32(
        {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)},
        key_words);
  };
  const int bytes = bits->element_bytes();
  uint8_t* out = bits->Mutable();
  const Shape& shape = bits->shape();
  if (bytes == 8) {
    for (int64_t k = 0; k < bits->count(); ++k) {
      const auto words = block((*state)[1] + k);
      Store(out + k * 8, Join(words[0], words[1]), 8);
    }
    (*state)[1] += bits->count();
    return absl::OkStatus();
  }
  int split = -1;
  for (int d = 0; d < shape.rank() && split < 0; ++d) {
    if (shape.dim(d) % 2 == 0) split = d;
  }
  if (split < 0) {
    for (int d = 0; d < shape.rank(); ++d) {
      if (split < 0 || shape.dim(d) > shape.dim(split)) split = d;
    }
  }
  if (split < 0) {  // a scalar
    Store(out, block((*state)[1])[0], bytes);
    (*state)[1] += 1;
    return absl::OkStatus();
  }
  // Element [.., 2h + w, ..] is word w of block [.., h, ..] of the half shape.
  DimVector half = shape.dims();
  half[split] = (half[split] + 1) / 2;
  const DimVector strides = RowMajorStrides(shape.dims());
  uint64_t counter = (*state)[1];
  for (Odometer o(half); !o.done(); o.Next(), ++counter) {
    const auto words = block(counter);
    for (int w = 0; w < 2; ++w) {
      DimVector index = o.index();
      index[split] = 2 * index[split] + w;
      if (index[split] >= shape.dim(split)) continue;
      Store(out + Dot(index, strides) * bytes, words[w], bytes);
    }
  }
  (*state)[1] = counter;
  return absl::OkStatus();
}

// rng_philox: u64[3] = key, 128-bit counter; u64[2] = key, low counter word.
absl::Status Philox(std::vector<uint64_t>* state, Value* bits) {
  if (state->size() < 2) {
    return absl::InvalidArgumentError(
        "rng_philox takes a state of u64[2] or u64[3]");
  }
  const uint64_t key = (*state)[0];
  uint64_t low = (*state)[1];
  // XLA lets the key stand in for a high word that is not there.
  uint64_t high = state->size() > 2 ? (*state)[2] : key;
  const int bytes = bits->element_bytes();
  const int64_t words_each = bytes == 8 ? 2 : 1;
  const int64_t per_block = 4 / words_each;
  uint8_t* out = bits->Mutable();
  const int64_t blocks = (bits->count() + per_block - 1) / per_block;
  for (int64_t b = 0; b < blocks; ++b) {
    const auto words = numerics::Philox4x32(
        {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
         static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)},
        {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
    for (int64_t j = 0; j < per_block; ++j) {
      const int64_t k = b * per_block + j;
      if (k >= bits->count()) break;
      const uint64_t word =
          bytes == 8 ? Join(words[2 * j], words[2 * j + 1]) : words[j];
      Store(out + k * bytes, word, bytes);
    }
    if (++low == 0) ++high;
  }
  (*state)[1] = low;
  if (state->size() > 2) (*state)[2] = high;
  return absl::OkStatus();
}

// Rows of the tiles that an array gets where its shape names none
// (hlo_backend/analysis/tiled_layout.h): arrays of few rows have lower ones. 0:
// the type's own, as where no TPU is asked for.
int TileRows(int64_t rows, int bytes, int tpu_generation) {
  if (tpu_generation == 0) return 0;
  const int packing = bytes >= 4 ? 1 : 4 / bytes;
  const int highest = packing > 2 && tpu_generation >= 4 ? 8 * packing : 8;
  if (rows > 0 && rows % highest == 0) return highest;
  int tile = std::min(8, (tpu_generation < 4 ? 2 : 1) * packing);
  while (tile < 8 && tile < rows) tile *= 2;
  return tile;
}

// The simulated hardware's generator: words of the result's tiled buffer
// (base/numerics/random.h). The second key word counts the vector registers
// that were drawn.
absl::Status Hardware(std::vector<uint64_t>* state, Value* bits,
                      int tpu_generation) {
  if (state->empty()) {
    return absl::InvalidArgumentError("rng_default takes a state");
  }
  const uint64_t key_lo = (*state)[0];
  const uint64_t key_hi = state->size() > 1 ? (*state)[1] : 0;
  const Shape& shape = bits->shape();
  const int bytes = bits->element_bytes();
  const bool wide = bytes == 8;  // two arrays of 32-bit words, low first
  // Dimensions in physical order.
  DimVector dims;
  DimVector strides;
  const DimVector logical = RowMajorStrides(shape.dims());
  int tile_rows = 0;
  for (int k = 0; k < shape.rank(); ++k) {
    const int64_t d =
        shape.has_layout() && !shape.layout().minor_to_major.empty()
            ? shape.layout().minor_to_major[shape.rank() - 1 - k]
            : k;
    dims.push_back(shape.dim(static_cast<int>(d)));
    strides.push_back(logical[d]);
  }
  if (shape.has_layout() && !shape.layout().tiles.empty()) {
    const auto& tile = shape.layout().tiles[0].dimensions;
    if (tile.size() == 2 && tile[1] == 128) {
      tile_rows = static_cast<int>(tile[0]);
    }
  } else if (dims.size() >= 2) {
    tile_rows = TileRows(dims[dims.size() - 2], bytes, tpu_generation);
  }
  const numerics::TiledWords places(dims, wide ? 32 : bytes * 8, tile_rows);
  // A plane of a 64-bit vector is cut into tiles of the vector's length,
  // rounded up to a power of two between 128 and 1024.
  int64_t plane = places.word_count();
  if (wide && dims.size() <= 1) {
    int64_t tile = 128;
    while (tile < 1024 && tile < bits->count()) tile *= 2;
    plane = (bits->count() + tile - 1) / tile * tile;
  }
  std::vector<uint32_t> words(plane * (wide ? 2 : 1));
  numerics::HardwareRandomFill(key_lo, key_hi, 0, absl::MakeSpan(words));
  uint8_t* out = bits->Mutable();
  for (Odometer o(dims); !o.done(); o.Next()) {
    const numerics::WordPosition at = places.At(o.index());
    uint64_t value = words[at.word] >> at.shift;
    if (wide) value = Join(words[at.word], words[at.word + plane]);
    Store(out + Dot(o.index(), strides) * bytes, value, bytes);
  }
  if (state->size() > 1) {
    (*state)[1] += (words.size() + 1023) / 1024;
  } else {
    (*state)[0] += (words.size() + 1023) / 1024;
  }
  return absl::OkStatus();
}

// The words that rng-bit-generator draws for a u32 array of these dimensions.
absl::StatusOr<Value> Draw(const OpContext& context, uint64_t seed,
                           uint64_t stream, const DimVector& dims) {
  std::vector<uint64_t> state = {seed, stream};
  Value bits = Value::NewArray(Shape::Array(PrimitiveType::kU32, dims));
  RETURN_IF_ERROR(Hardware(&state, &bits, context.tpu_generation()));
  return bits;
}

}  // namespace

absl::StatusOr<Value> EvalRngBitGenerator(OpContext& context,
                                          const Instruction& i,
                                          absl::Span<Value> operands) {
  // With the new state, or the bits alone.
  const bool has_state = i.shape().IsTuple();
  const Shape& bits_shape = has_state ? i.shape().element(1) : i.shape();
  if (BitWidth(bits_shape.type()) < 8 || IsComplex(bits_shape.type())) {
    return absl::UnimplementedError(absl::StrCat(
        "random bits of type ", PrimitiveTypeName(bits_shape.type())));
  }
  std::vector<uint64_t> state = StateWords(operands[0]);
  Value bits = Value::NewArray(bits_shape);
  switch (i.attrs<RngBitGeneratorAttrs>().algorithm) {
    case RngAlgorithm::kThreeFry:
      RETURN_IF_ERROR(ThreeFry(&state, &bits));
      break;
    case RngAlgorithm::kPhilox:
      RETURN_IF_ERROR(Philox(&state, &bits));
      break;
    case RngAlgorithm::kDefault:
      RETURN_IF_ERROR(Hardware(&state, &bits, context.tpu_generation()));
      break;
  }
  if (!has_state) return bits;
  return Value::NewTuple(
      ShapeOf(i), {StateValue(state, i.shape().element(0)), std::move(bits)});
}

// Uniform in [a, b) or normal with mean a and deviation b. The stream is the
// instruction's: its name's hash; a second one follows for what needs two words
// (normal numbers, 64-bit integers).
absl::StatusOr<Value> EvalRng(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  const PrimitiveType type = i.shape().type();
  const uint64_t seed = context.options().seed;
  const uint64_t stream = HashBytes(i.name()) >> 1;
  const int64_t n = i.shape().ElementCount();
  ASSIGN_OR_RETURN(const Value one,
                   Draw(context, seed, stream, i.shape().dims()));
  ASSIGN_OR_RETURN(const Value two,
                   Draw(context, seed, stream + 1, i.shape().dims()));
  const uint32_t* words = one.as<uint32_t>();
  const uint32_t* more = two.as<uint32_t>();
  const bool uniform =
      i.attrs<RngAttrs>().distribution == RngDistribution::kUniform;
  if (IsInteger(type) || type == PrimitiveType::kPred) {
    if (!uniform) return absl::UnimplementedError("normal integers");
    const bool wide = BitWidth(type) > 32;
    const int64_t low = operands[0].Integer(0);
    const uint64_t range = static_cast<uint64_t>(operands[1].Integer(0)) - low;
    Value v =
        Value::NewArray(Shape::Array(PrimitiveType::kS64, i.shape().dims()));
    int64_t* out = v.MutableAs<int64_t>();
    for (int64_t k = 0; k < n; ++k) {
      const uint64_t word = wide ? Join(words[k], more[k]) : words[k];
      out[k] = range == 0 ? low : static_cast<int64_t>(low + word % range);
    }
    ASSIGN_OR_RETURN(v, ConvertTo(v, type));
    return v.WithShape(ShapeOf(i));
  }
  ASSIGN_OR_RETURN(const Value a, ConvertTo(operands[0], PrimitiveType::kF64));
  ASSIGN_OR_RETURN(const Value b, ConvertTo(operands[1], PrimitiveType::kF64));
  const double first = a.as<double>()[0];
  const double second = b.as<double>()[0];
  Value v =
      Value::NewArray(Shape::Array(PrimitiveType::kF64, i.shape().dims()));
  double* out = v.MutableAs<double>();
  constexpr double kTwoPi = 6.283185307179586476925;
  // 23 bits, so that rounding to f32 cannot reach the upper end.
  const auto unit = [](uint32_t word) { return (word >> 9) * 0x1p-23; };
  for (int64_t k = 0; k < n; ++k) {
    out[k] = uniform ? first + (second - first) * unit(words[k])
                     : first + second *
                                   numerics::Sqrt(
                                       -2 * numerics::Log(1 - unit(words[k]))) *
                                   numerics::Cos(kTwoPi * unit(more[k]));
  }
  ASSIGN_OR_RETURN(v, ConvertTo(v, type));
  return v.WithShape(ShapeOf(i));
}

absl::StatusOr<Value> EvalRngGetAndUpdateState(OpContext& context,
                                               const Instruction& i,
                                               absl::Span<Value>) {
  const uint64_t old = context.rng_state;
  context.rng_state += i.attrs<RngStateAttrs>().delta;
  return StateValue({old, 0}, i.shape());
}

}  // namespace ptxla::hlo

#include "hlo_backend/passes/expanders/rng_bit_generator_expander.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kU64 = PrimitiveType::kU64;

// Low and high word.
struct Pair {
  Instruction* low = nullptr;
  Instruction* high = nullptr;
};

class RngBitGeneratorExpander {
 public:
  explicit RngBitGeneratorExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  // Null: another instruction, the hardware's algorithm, or a state that the
  // algorithm does not take.
  Instruction* Expand() {
    if (i_->opcode() != Opcode::kRngBitGenerator) return nullptr;
    const RngAlgorithm algorithm = i_->attrs<RngBitGeneratorAttrs>().algorithm;
    const bool is_tuple = i_->shape().IsTuple();
    bits_ = is_tuple ? i_->shape().element(1) : i_->shape();
    if (algorithm == RngAlgorithm::kDefault || !IsInteger(bits_.type()) ||
        BitWidth(bits_.type()) < 8 || bits_.ElementCount() == 0 ||
        !ReadState()) {
      return nullptr;
    }
    Instruction* bits =
        algorithm == RngAlgorithm::kThreeFry ? ThreeFry() : Philox();
    return is_tuple ? b_.Tuple({NewState(), bits}) : bits;
  }

 private:
  Instruction* U32(uint32_t value, const Instruction* like) {
    Instruction* c = b_.Constant(Literal::Scalar<uint32_t>(value));
    return Spread(c, like->shape().dims());
  }
  Instruction* Spread(Instruction* scalar, const DimVector& dims) {
    return dims.empty() ? scalar : b_.BroadcastScalar(scalar, dims);
  }

  // 64-bit numbers, or pairs of words, the low one first.
  bool ReadState() {
    Instruction* state = i_->operand(0);
    const PrimitiveType type = state->shape().type();
    const bool whole = type == kU64;
    if (state->shape().rank() != 1 || (!whole && type != kU32)) return false;
    const auto scalar = [&](int64_t k) {
      return b_.Reshape(b_.Slice(state, {k}, {k + 1}), {});
    };
    const int64_t n = state->shape().dim(0) / (whole ? 1 : 2);
    for (int64_t k = 0; k < n; ++k) {
      if (!whole) {
        state_.push_back({scalar(2 * k), scalar(2 * k + 1)});
        continue;
      }
      Instruction* word = scalar(k);
      Instruction* half = b_.Constant(Literal::Scalar<uint64_t>(32));
      state_.push_back({b_.Convert(word, kU32),
                        b_.Convert(b_.ShiftRightLogical(word, half), kU32)});
    }
    return n >= 2;
  }

  Instruction* NewState() {
    std::vector<Instruction*> parts;
    const PrimitiveType type = i_->operand(0)->shape().type();
    for (const Pair& p : state_) {
      if (type == kU64) {
        parts.push_back(b_.Reshape(Joined(p), {1}));
      } else {
        parts.push_back(b_.Reshape(p.low, {1}));
        parts.push_back(b_.Reshape(p.high, {1}));
      }
    }
    return b_.Concatenate(parts, 0);
  }

  // low + (high << 32)
  Instruction* Joined(Pair p) {
    Instruction* high = b_.Convert(p.high, kU64);
    Instruction* half = b_.Constant(Literal::Scalar<uint64_t>(32));
    return b_.Or(b_.ShiftLeft(high, Spread(half, high->shape().dims())),
                 b_.Convert(p.low, kU64));
  }

  // The 64-bit number plus `more` (u32, of any shape); whether it overflowed.
  std::pair<Pair, Instruction*> Plus(Pair p, Instruction* more) {
    const DimVector& dims = more->shape().dims();
    const auto carry = [&](Instruction* sum, Instruction* term) {
      return b_.Convert(b_.Compare(sum, term, CompareDirection::kLt), kU32);
    };
    Instruction* low = b_.Add(Spread(p.low, dims), more);
    Instruction* from_low = carry(low, more);
    Instruction* high = b_.Add(Spread(p.high, dims), from_low);
    return {{low, high}, carry(high, from_low)};
  }

  // 0, 1, 2 ... in row-major order.
  Instruction* Counting(const DimVector& dims) {
    const Shape shape = Shape::Array(kU32, dims);
    if (dims.empty()) return U32(0, b_.Zero(kU32));
    Instruction* sum = nullptr;
    int64_t stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      Instruction* term = b_.Iota(shape, d);
      if (stride > 1) {
        term = b_.Multiply(term, U32(static_cast<uint32_t>(stride), term));
      }
      sum = sum == nullptr ? term : b_.Add(sum, term);
      stride *= shape.dim(d);
    }
    return sum;
  }

  Instruction* Rotated(Instruction* x, uint32_t distance) {
    return b_.Or(b_.ShiftLeft(x, U32(distance, x)),
                 b_.ShiftRightLogical(x, U32(32 - distance, x)));
  }

  Pair ThreeFryBlock(Pair x) {
    constexpr uint32_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const DimVector& dims = x.low->shape().dims();
    const Pair key = state_[0];
    Instruction* parity =
        b_.Xor(U32(0x1bd11bda, key.low), b_.Xor(key.low, key.high));
    Instruction* const schedule[3] = {
        Spread(key.low, dims), Spread(key.high, dims), Spread(parity, dims)};
    Instruction* a = b_.Add(x.low, schedule[0]);
    Instruction* c = b_.Add(x.high, schedule[1]);
    for (uint32_t group = 1; group <= 5; ++group) {
      for (const uint32_t rotation : kRotations[(group - 1) % 2]) {
        a = b_.Add(a, c);
        c = b_.Xor(Rotated(c, rotation), a);
      }
      a = b_.Add(a, schedule[group % 3]);
      c = b_.Add(b_.Add(c, schedule[(group + 1) % 3]), U32(group, c));
    }
    return {a, c};
  }

  // The low bits of words: narrowing keeps them.
  Instruction* AsBits(Instruction* words) {
    if (IsSigned(bits_.type())) {
      const PrimitiveType same = words->shape().type() == kU32
                                     ? PrimitiveType::kS32
                                     : PrimitiveType::kS64;
      words =
          b_.BitcastConvert(words, Shape::Array(same, words->shape().dims()));
    }
    return words->shape().type() == bits_.type()
               ? words
               : b_.Convert(words, bits_.type());
  }

  // One dimension (the first even one, else the largest) is cut in halves that
  // take the two words of a block; 64-bit elements take both.
  Instruction* ThreeFry() {
    const DimVector& dims = bits_.dims();
    DimVector blocks = dims;
    int split = -1;
    if (BitWidth(bits_.type()) < 64) {
      for (int d = 0; d < bits_.rank() && split < 0; ++d) {
        if (dims[d] % 2 == 0) split = d;
      }
      for (int d = 0; d < bits_.rank() && (split < 0 || dims[split] % 2); ++d) {
        if (split < 0 || dims[d] > dims[split]) split = d;
      }
      if (split >= 0) blocks[split] = (blocks[split] + 1) / 2;
    }
    const Pair words = ThreeFryBlock(Plus(state_[1], Counting(blocks)).first);
    const int64_t count = Shape::Array(kU32, blocks).ElementCount();
    state_[1] =
        Plus(state_[1], U32(static_cast<uint32_t>(count), state_[1].low)).first;
    if (BitWidth(bits_.type()) == 64) return AsBits(Joined(words));
    if (split < 0) return AsBits(words.low);
    return AsBits(Interleaved({words.low, words.high}, split, dims[split]));
  }

  // Words of a block follow one another along a dimension of so many elements.
  Instruction* Interleaved(const std::vector<Instruction*>& words,
                           int dimension, int64_t count) {
    DimVector dims = words[0]->shape().dims(), apart = dims;
    apart.insert(apart.begin() + dimension + 1, 1);
    std::vector<Instruction*> parts;
    for (Instruction* word : words) parts.push_back(b_.Reshape(word, apart));
    dims[dimension] *= static_cast<int64_t>(words.size());
    Instruction* all = b_.Reshape(b_.Concatenate(parts, dimension + 1), dims);
    if (dims[dimension] == count) return all;
    DimVector limits = dims;
    limits[dimension] = count;
    return b_.Slice(all, DimVector(dims.size(), 0), limits);
  }

  // Four words a block, in row-major order; two 64-bit elements.
  Instruction* Philox() {
    const bool wide = BitWidth(bits_.type()) == 64;
    const int64_t each = wide ? 2 : 4, count = bits_.ElementCount();
    const DimVector blocks = {(count + each - 1) / each};
    const Pair key = state_[0];
    // The key stands in for a high word that is not there.
    const Pair above = state_.size() > 2 ? state_[2] : key;
    const auto [low, overflow] = Plus(state_[1], Counting(blocks));
    const Pair high = Plus(above, overflow).first;
    std::array<Instruction*, 4> x = {low.low, low.high, high.low, high.high};
    Instruction* k0 = Spread(key.low, blocks);
    Instruction* k1 = Spread(key.high, blocks);
    for (int round = 0; round < 10; ++round) {
      Instruction* m0 = U32(0xd2511f53, x[0]);
      Instruction* m1 = U32(0xcd9e8d57, x[2]);
      Instruction* high0 = b_.Binary(Opcode::kMulhi, x[0], m0);
      Instruction* high1 = b_.Binary(Opcode::kMulhi, x[2], m1);
      x = {b_.Xor(b_.Xor(high1, x[1]), k0), b_.Multiply(x[2], m1),
           b_.Xor(b_.Xor(high0, x[3]), k1), b_.Multiply(x[0], m0)};
      k0 = b_.Add(k0, U32(0x9e3779b9, k0));
      k1 = b_.Add(k1, U32(0xbb67ae85, k1));
    }
    const auto [next, carry] =
        Plus(state_[1], U32(static_cast<uint32_t>(blocks[0]), state_[1].low));
    state_[1] = next;
    if (state_.size() > 2) state_[2] = Plus(state_[2], carry).first;
    std::vector<Instruction*> words(x.begin(), x.end());
    if (wide) words = {Joined({x[0], x[1]}), Joined({x[2], x[3]})};
    return AsBits(b_.Reshape(Interleaved(words, 0, count), bits_.dims()));
  }

  Instruction* i_;
  Builder b_;
  Shape bits_;
  std::vector<Pair> state_;
};

}  // namespace

absl::StatusOr<bool> RngBitGeneratorExpanderPass::Run(Module* module,
                                                      const PassContext&) {
  return ExpandEach(module, [](Instruction* i) {
    return RngBitGeneratorExpander(i).Expand();
  });
}

}  // namespace ptxla::hlo

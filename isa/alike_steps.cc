#include "isa/alike_steps.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ptxla::isa {
namespace {

class Numberer {
 public:
  Numberer(const Kernel& kernel, GridWalk* walk,
           absl::FunctionRef<int32_t(const GridWalk&)> number)
      : kernel_(kernel), walk_(*walk), number_(number) {
    for (int w = 0; w < static_cast<int>(kernel.windows.size()); ++w) {
      ahead_ = std::max<int64_t>(ahead_, walk_.Ahead(w));
    }
    const int rank = static_cast<int>(kernel.grid.size());
    inner_.assign(rank, 1);
    for (int d = rank - 2; d >= 0; --d) {
      inner_[d] = inner_[d + 1] * Count(d + 1);
    }
    for (int d = 0; d < rank; ++d) likes_.push_back(LikesOf(d));
  }

  std::vector<int32_t> Run() {
    numbers_.reserve(walk_.num_steps());
    Walk(0);
    return std::move(numbers_);
  }

 private:
  int64_t Count(int dim) const { return walk_.upper(dim) - walk_.lower(dim); }

  // The next step is the first with some indices of the dimensions before.
  void Walk(size_t dim) {
    if (dim == likes_.size()) {
      const auto step = static_cast<int64_t>(numbers_.size());
      step == walk_.step() + 1 ? walk_.Next() : walk_.Seek(step);
      numbers_.push_back(number_(walk_));
      return;
    }
    const size_t first = numbers_.size();
    for (size_t i = 0; i < likes_[dim].size(); ++i) {
      const size_t like = likes_[dim][i];
      if (like == i) {
        Walk(dim + 1);
        continue;
      }
      const size_t at = numbers_.size();
      numbers_.resize(at + inner_[dim]);
      std::copy_n(numbers_.begin() + first + like * inner_[dim], inner_[dim],
                  numbers_.begin() + at);
    }
  }

  // For each index of the core, from 0, the first with the same steps. Those
  // from which transfers reach into the next round of the dimension are like
  // none: what they start depends on the outer ones.
  std::vector<int64_t> LikesOf(int dim) const {
    const int64_t count = Count(dim);
    // How far the block that a step asks for may be ahead, in indices.
    const int64_t reach = (inner_[dim] - 1 + ahead_) / inner_[dim];
    std::vector<int64_t> likes(count);
    absl::flat_hash_map<std::vector<int64_t>, int64_t> known;
    std::vector<int64_t> last;
    for (int64_t i = 0; i < count; ++i) {
      likes[i] = i;
      if (i + reach >= count) continue;
      std::vector<int64_t> looks = LooksOf(dim, walk_.lower(dim) + i, reach);
      likes[i] = looks == last ? likes[i - 1]
                               : known.try_emplace(looks, i).first->second;
      last = std::move(looks);
    }
    return likes;
  }

  // All that tells steps with this index from steps with another one.
  std::vector<int64_t> LooksOf(int dim, int64_t index, int64_t reach) const {
    std::vector<int64_t> looks = {index == 0, index == kernel_.grid[dim] - 1,
                                  index == walk_.lower(dim),
                                  index == walk_.upper(dim) - 1};
    std::vector<int64_t> at(kernel_.grid.size());
    for (const Window& window : kernel_.windows) {
      for (const WindowDim& d : window.dims) {
        if (d.grid_dim != dim) continue;
        int64_t last = 0;
        for (int64_t i = index; i <= index + reach; ++i) {
          at[dim] = i;
          const int64_t block = BlockIndex(d, at);
          const int64_t begin = d.origin + d.Advance() * block;
          looks.push_back(std::min(begin + d.block, d.extent) -
                          std::max<int64_t>(begin, 0));
          if (i > index) looks.push_back(block != last);
          last = block;
        }
      }
    }
    return looks;
  }

  const Kernel& kernel_;
  GridWalk& walk_;
  const absl::FunctionRef<int32_t(const GridWalk&)> number_;
  int64_t ahead_ = 1;                        // most of any window, in steps
  std::vector<int64_t> inner_;               // steps of one index
  std::vector<std::vector<int64_t>> likes_;  // by dimension
  std::vector<int32_t> numbers_;
};

}  // namespace

std::vector<int32_t> NumberAlikeSteps(
    const Kernel& kernel, GridWalk* walk,
    absl::FunctionRef<int32_t(const GridWalk&)> number) {
  if (walk->num_steps() == 0) return {};
  return Numberer(kernel, walk, number).Run();
}

}  // namespace ptxla::isa

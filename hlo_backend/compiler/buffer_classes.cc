#include "hlo_backend/compiler/buffer_classes.h"

#include "base/check.h"

namespace ptxla::hlo {

BufferClasses::BufferClasses(const std::vector<Computation*>& computations) {
  int count = 0;
  for (const Computation* c : computations) {
    for (const Instruction* i : c->instructions()) {
      first_.Set(*i, count);
      count += static_cast<int>(i->shape().LeafCount());
    }
  }
  parent_.resize(count);
  offset_.assign(count, 0);
  for (int k = 0; k < count; ++k) parent_[k] = k;
}

int BufferClasses::Leaf(const Instruction* i,
                        absl::Span<const int64_t> index) const {
  int leaf = First(i);
  const Shape* shape = &i->shape();
  for (int64_t k : index) {
    for (int64_t before = 0; before < k; ++before) {
      leaf += static_cast<int>(
          shape->element(static_cast<int>(before)).LeafCount());
    }
    shape = &shape->element(static_cast<int>(k));
  }
  return leaf;
}

BufferClasses::At BufferClasses::Find(int leaf) const {
  int64_t offset = 0;
  int root = leaf;
  while (parent_[root] != root) {
    offset += offset_[root];
    root = parent_[root];
  }
  // Compress.
  int64_t rest = offset;
  while (parent_[leaf] != leaf) {
    const int next = parent_[leaf];
    const int64_t step = offset_[leaf];
    parent_[leaf] = root;
    offset_[leaf] = rest;
    rest -= step;
    leaf = next;
  }
  return {root, offset};
}

bool BufferClasses::Tie(int outer, int inner, int64_t offset) {
  const At a = Find(outer), b = Find(inner);
  // Where b's class starts, seen from a's class.
  const int64_t shift = a.offset + offset - b.offset;
  if (a.root == b.root) return shift == 0;
  parent_[b.root] = a.root;
  offset_[b.root] = shift;
  return true;
}

void BufferClasses::TieAll(const Instruction* a, const Instruction* b) {
  const int64_t leaves = a->shape().LeafCount();
  CHECK_EQ(leaves, b->shape().LeafCount()) << a->name() << " " << b->name();
  for (int k = 0; k < leaves; ++k) Tie(First(a) + k, First(b) + k);
}

}  // namespace ptxla::hlo

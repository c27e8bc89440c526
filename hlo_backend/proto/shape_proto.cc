#include "hlo_backend/proto/shape_proto.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/proto/layout_parts_proto.h"
#include "hlo_backend/proto/repeated_fields.h"

namespace ptxla::hlo {
namespace {

constexpr int kMaxRank = 64;

proto::PrimitiveType TypeToProto(PrimitiveType type) {
  return static_cast<proto::PrimitiveType>(PrimitiveTypeProtoNumber(type));
}

absl::StatusOr<PrimitiveType> TypeFromProto(int number) {
#define PTXLA_X(e, text, n, bits, cls) \
  if (number == n) return PrimitiveType::e;
  PTXLA_HLO_PRIMITIVE_TYPES(PTXLA_X)
#undef PTXLA_X
  return absl::InvalidArgumentError(
      absl::StrCat("element type number ", number, " is not known"));
}

absl::Status LayoutToProto(const Layout& layout, proto::LayoutProto* out) {
  for (int64_t d : layout.minor_to_major) out->add_minor_to_major(d);
  for (const Tile& tile : layout.tiles) {
    proto::TileProto* t = out->add_tiles();
    for (int64_t d : tile.dimensions) t->add_dimensions(d);
  }
  out->set_element_size_in_bits(layout.element_size_in_bits);
  out->set_memory_space(layout.memory_space);
  out->set_tail_padding_alignment_in_elements(
      layout.tail_padding_alignment_in_elements);
  out->set_dynamic_shape_metadata_prefix_bytes(
      layout.dynamic_shape_metadata_prefix_bytes);
  out->set_index_primitive_type(TypeToProto(layout.index_type));
  out->set_pointer_primitive_type(TypeToProto(layout.pointer_type));
  return LayoutPartsToProto(layout, out);
}

absl::StatusOr<Layout> LayoutFromProto(const proto::LayoutProto& in, int rank) {
  Layout layout;
  layout.minor_to_major.assign(in.minor_to_major().begin(),
                               in.minor_to_major().end());
  DimVector sorted = layout.minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = static_cast<int>(sorted.size()) == rank;
  for (int d = 0; permutes && d < rank; ++d) permutes = sorted[d] == d;
  if (!permutes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a layout of rank ", rank, " is no permutation: {",
                     absl::StrJoin(layout.minor_to_major, ","), "}"));
  }
  RETURN_IF_ERROR(LayoutPartsFromProto(in, &layout));
  for (const proto::TileProto& t : in.tiles()) {
    Tile tile;
    for (const int64_t d : t.dimensions()) {
      if (d < 1 && d != Tile::kCombine) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a tile has at least one element, not ", d, " in a dimension"));
      }
      tile.dimensions.push_back(d);
    }
    layout.tiles.push_back(std::move(tile));
  }
  layout.element_size_in_bits = in.element_size_in_bits();
  layout.memory_space = static_cast<int>(in.memory_space());
  layout.tail_padding_alignment_in_elements =
      std::max<int64_t>(in.tail_padding_alignment_in_elements(), 1);
  layout.dynamic_shape_metadata_prefix_bytes =
      in.dynamic_shape_metadata_prefix_bytes();
  ASSIGN_OR_RETURN(layout.index_type, TypeFromProto(in.index_primitive_type()));
  ASSIGN_OR_RETURN(layout.pointer_type,
                   TypeFromProto(in.pointer_primitive_type()));
  return layout;
}

absl::StatusOr<Shape> ArrayFromProto(PrimitiveType type,
                                     const proto::ShapeProto& in) {
  const int rank = in.dimensions_size();
  if (rank > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape of rank ", rank, " is not supported"));
  }
  for (int64_t d : in.dimensions()) {
    if (d < 0 && d != Shape::kUnbounded) {
      return absl::InvalidArgumentError(
          absl::StrCat("a dimension has the size ", d));
    }
  }
  Shape shape = Shape::Array(
      type, absl::MakeConstSpan(in.dimensions().data(),
                                static_cast<size_t>(in.dimensions_size())));
  for (int d = 0; d < std::min(rank, in.is_dynamic_dimension_size()); ++d) {
    if (in.is_dynamic_dimension(d)) shape.set_dynamic_dim(d, true);
  }
  if (in.has_layout()) {
    ASSIGN_OR_RETURN(Layout layout, LayoutFromProto(in.layout(), rank));
    if (rank > 0 || layout != Layout()) shape.set_layout(std::move(layout));
  }
  return shape;
}

absl::StatusOr<Shape> ShapeFromProto(const proto::ShapeProto& in, int depth) {
  if (depth > kMaxProtoNesting) {
    return absl::InvalidArgumentError("a shape nests too deep");
  }
  ASSIGN_OR_RETURN(const PrimitiveType type, TypeFromProto(in.element_type()));
  switch (type) {
    case PrimitiveType::kInvalid:
      return absl::InvalidArgumentError("a shape has no element type");
    case PrimitiveType::kToken:
      return Shape::Token();
    case PrimitiveType::kOpaque:
      return Shape::Opaque();
    case PrimitiveType::kTuple: {
      std::vector<Shape> elements;
      for (const proto::ShapeProto& e : in.tuple_shapes()) {
        ASSIGN_OR_RETURN(Shape element, ShapeFromProto(e, depth + 1));
        elements.push_back(std::move(element));
      }
      return Shape::Tuple(std::move(elements));
    }
    case PrimitiveType::kBuffer: {
      if (in.tuple_shapes_size() != 1) {
        return absl::InvalidArgumentError("a buffer holds one array");
      }
      ASSIGN_OR_RETURN(Shape array,
                       ShapeFromProto(in.tuple_shapes(0), depth + 1));
      if (!array.IsArray()) {
        return absl::InvalidArgumentError("a buffer holds one array");
      }
      return Shape::Buffer(std::move(array));
    }
    default:
      return ArrayFromProto(type, in);
  }
}

}  // namespace

absl::Status ToProto(const Shape& shape, proto::ShapeProto* out) {
  out->set_element_type(TypeToProto(shape.type()));
  for (const Shape& element : shape.elements()) {
    RETURN_IF_ERROR(ToProto(element, out->add_tuple_shapes()));
  }
  if (!shape.IsArray()) return absl::OkStatus();
  for (int d = 0; d < shape.rank(); ++d) {
    out->add_dimensions(shape.dim(d));
    out->add_is_dynamic_dimension(shape.is_dynamic_dim(d));
  }
  if (shape.has_layout()) {
    return LayoutToProto(shape.layout(), out->mutable_layout());
  }
  // Only scalars print alike with and without a layout.
  if (shape.rank() == 0) return LayoutToProto(Layout(), out->mutable_layout());
  return absl::OkStatus();
}

absl::StatusOr<Shape> FromProto(const proto::ShapeProto& in) {
  return ShapeFromProto(in, 0);
}

absl::Status ToProto(const ProgramShape& shape, proto::ProgramShapeProto* out) {
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    RETURN_IF_ERROR(ToProto(shape.parameters[i], out->add_parameters()));
    out->add_parameter_names(i < shape.parameter_names.size()
                                 ? shape.parameter_names[i]
                                 : absl::StrCat("p", i));
  }
  return ToProto(shape.result, out->mutable_result());
}

absl::StatusOr<ProgramShape> FromProto(const proto::ProgramShapeProto& in) {
  ProgramShape shape;
  for (const proto::ShapeProto& p : in.parameters()) {
    ASSIGN_OR_RETURN(Shape parameter, FromProto(p));
    shape.parameters.push_back(std::move(parameter));
  }
  shape.parameter_names.assign(in.parameter_names().begin(),
                               in.parameter_names().end());
  ASSIGN_OR_RETURN(shape.result, FromProto(in.result()));
  return shape;
}

}  // namespace ptxla::hlo

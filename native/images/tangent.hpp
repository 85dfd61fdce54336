// Distances between tangent planes of images: see src/mercer/engine/tangents.py.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"

namespace mercer {

// Images with the tangents at each of them.
struct Planes {
  const double* rows;  // images x (tangents + 1) x pixels: the image, then orthonormal tangents or zeros
  const double* own;   // images x tangents: inner products of the tangents with their image
  std::int64_t images, tangents, pixels;
};

// Turns the `tangents` vectors of each image into orthonormal ones, zeros where one depends on the others.
void orthonormalise(double* vectors, std::int64_t images, std::int64_t tangents, std::int64_t pixels,
                    int threads, const Look& look);

// `products` has the inner products of all rows of X with all rows of Y, and `out` the squared distances of
// the images, which become those of the planes:
//   min over a, b of |x + A a - y - B b|^2 = |e|^2 - |u|^2 - r' (I - G'G)^-1 r
// with e = x - y, u = A'e, G = A'B, r = B'e - G'u, where A and B have the tangents as columns.
void plane_distances(const Planes& X, const Planes& Y, const double* products, double* out, int threads,
                     const Look& look);

}  // namespace mercer

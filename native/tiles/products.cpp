// Dense tiles of kernels built from the products z_k = w_k x_k y_k of single features:
//
//   ANOVA        sum_s c_s e_s(z),  e_s the elementary symmetric polynomial of degree s
//   all subsets  prod_k (1 + z_k)
//   Cauchy       prod_k (1 + (w_k (x_k - y_k))^2), the denominators of that kernel
//
// e_0 .. e_degree come together from the recursion e_s <- e_s + z_k e_{s-1} over the features.
#include "pack.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr Index kSlice = 128;
constexpr Index kPackedY = kSlice * kCols;

// z is a symmetric function of x and y to the last bit: x y first, then the weight.
MERCER_INLINE Vec product(double weight, double x, Vec y) { return weight * (splat(x) * y); }

// One row against kCols columns.  e holds degree + 1 groups of kCols sums.  For a small degree known at
// compile time (fixed > 0) the sums stay in registers; otherwise (fixed == 0) they live in `e`.
template <int fixed, class T>
void advance(Index degree, Index count, const T* x, const double* weights, const double* y, double* e) {
  if constexpr (fixed > 0) {
    Vec acc[fixed + 1][kVectors];
    for (int s = 0; s <= fixed; ++s)
      for (int v = 0; v < kVectors; ++v) acc[s][v] = load(e + s * kCols + v * kLanes);
    for (Index k = 0; k < count; ++k)
      for (int v = 0; v < kVectors; ++v) {
        Vec z = product(weights[k], static_cast<double>(x[k]), load(y + k * kCols + v * kLanes));
        for (int s = fixed; s > 0; --s) acc[s][v] = muladd(z, acc[s - 1][v], acc[s][v]);
      }
    for (int s = 0; s <= fixed; ++s)
      for (int v = 0; v < kVectors; ++v) store(e + s * kCols + v * kLanes, acc[s][v]);
  } else {
    for (Index k = 0; k < count; ++k)
      for (int v = 0; v < kVectors; ++v) {
        Vec z = product(weights[k], static_cast<double>(x[k]), load(y + k * kCols + v * kLanes));
        double* lane = e + v * kLanes;
        Vec high = load(lane + degree * kCols);
        for (Index s = degree; s > 0; --s) {
          Vec low = load(lane + (s - 1) * kCols);
          store(lane + s * kCols, muladd(z, low, high));
          high = low;
        }
      }
  }
}

template <class T>
using Advance = void (*)(Index, Index, const T*, const double*, const double*, double*);

template <class T>
Advance<T> advance_for(Index degree) {
  switch (degree) {
    case 1:
      return advance<1, T>;
    case 2:
      return advance<2, T>;
    case 3:
      return advance<3, T>;
    case 4:
      return advance<4, T>;
    case 5:
      return advance<5, T>;
    default:
      return advance<0, T>;
  }
}

Index anova_work(Index degree) { return kPackedY + kTileRows * (degree + 1) * kCols; }

template <class T, class O>
void anova(Dense<T> X, Dense<T> Y, const double* weights, const double* coefficients, Index degree,
           Output<O> out, double* work) {
  double* packed = work;
  double* sums = work + kPackedY;
  Index group = (degree + 1) * kCols;
  Advance<T> step = advance_for<T>(degree);
  for (Index j = 0; j < Y.rows; j += kCols) {
    for (Index i = 0; i < X.rows; ++i)
      for (Index c = 0; c < group; ++c) sums[i * group + c] = c < kCols ? 1.0 : 0.0;
    for (Index from = 0; from < X.cols; from += kSlice) {
      Index count = X.cols - from < kSlice ? X.cols - from : kSlice;
      pack<kCols>(Y, j, from, count, packed);
      for (Index i = 0; i < X.rows; ++i)
        step(degree, count, X.data + i * X.stride + from, weights + from, packed, sums + i * group);
    }
    Index columns = Y.rows - j < kCols ? Y.rows - j : kCols;
    for (Index i = 0; i < X.rows; ++i)
      for (Index c = 0; c < columns; ++c) {
        double value = 0.0;
        for (Index s = 0; s <= degree; ++s)  // a degree that does not count must not bring in inf * 0
          if (coefficients[s] != 0.0) value += coefficients[s] * sums[i * group + s * kCols + c];
        out.data[i * out.stride + j + c] = static_cast<O>(value);
      }
  }
}

struct OnePlusProduct {
  static MERCER_INLINE Vec of(double weight, double x, Vec y) { return 1.0 + product(weight, x, y); }
};

struct OnePlusSquare {
  static MERCER_INLINE Vec of(double weight, double x, Vec y) {
    Vec t = weight * (x - y);
    return muladd(t, t, splat(1.0));
  }
};

template <class Factor, class T, class O>
void product_of(Dense<T> X, Dense<T> Y, const double* weights, Output<O> out, double* work) {
  double* packed = work;
  double* values = work + kPackedY;
  for (Index j = 0; j < Y.rows; j += kCols) {
    for (Index i = 0; i < X.rows * kCols; ++i) values[i] = 1.0;
    for (Index from = 0; from < X.cols; from += kSlice) {
      Index count = X.cols - from < kSlice ? X.cols - from : kSlice;
      pack<kCols>(Y, j, from, count, packed);
      for (Index i = 0; i < X.rows; ++i) {
        const T* x = X.data + i * X.stride + from;
        Vec acc[kVectors];
        for (int v = 0; v < kVectors; ++v) acc[v] = load(values + i * kCols + v * kLanes);
        for (Index k = 0; k < count; ++k)
          for (int v = 0; v < kVectors; ++v)
            acc[v] *= Factor::of(weights[from + k], static_cast<double>(x[k]),
                                 load(packed + k * kCols + v * kLanes));
        for (int v = 0; v < kVectors; ++v) store(values + i * kCols + v * kLanes, acc[v]);
      }
    }
    Index columns = Y.rows - j < kCols ? Y.rows - j : kCols;
    for (Index i = 0; i < X.rows; ++i)
      for (Index c = 0; c < columns; ++c)
        out.data[i * out.stride + j + c] = static_cast<O>(values[i * kCols + c]);
  }
}

}  // namespace

void fill_products(Table& table) {
  table.f64.anova = table.f64.fill_anova = anova<double, double>;
  table.f32.anova = anova<float, float>;
  table.f32.fill_anova = anova<float, double>;
  table.f64.all_subsets = table.f64.fill_all_subsets = product_of<OnePlusProduct, double, double>;
  table.f32.all_subsets = product_of<OnePlusProduct, float, float>;
  table.f32.fill_all_subsets = product_of<OnePlusProduct, float, double>;
  table.f64.fill_cauchy = product_of<OnePlusSquare, double, double>;
  table.f32.fill_cauchy = product_of<OnePlusSquare, float, double>;
  table.anova_work = anova_work;
  table.all_subsets_work = kPackedY + kTileRows * kCols;
}

}  // namespace mercer::MERCER_TILES

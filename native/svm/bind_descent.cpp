// mercer._native.coordinate_descent: native/svm/coordinate_descent.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "coordinate_descent.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Moved = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Rows>
nb::tuple descend(const Rows& rows, const Vector& linear, const Vector& low, const Vector& high,
                  double epsilon, int constraint, const Moved& beta, const Moved& w, double multiplier,
                  double tolerance, Index visits, std::uint64_t seed, const nb::object& watch) {
  QuadraticProblem problem{
      static_cast<Index>(linear.shape(0)), linear.data(), low.data(), high.data(), nullptr, epsilon,
      static_cast<Constraint>(constraint)};
  Descent found;
  {
    nb::gil_scoped_release release;
    found = coordinate_descent(problem, rows, beta.data(), w.data(), multiplier, tolerance, visits, seed,
                               [&watch](Index done, double violation) {
                                 nb::gil_scoped_acquire acquire;
                                 return nb::cast<bool>(watch(done, violation));
                               });
  }
  return nb::make_tuple(static_cast<int>(found.ending), found.visits, found.multiplier);
}

template <class T>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "coordinate_descent",
      [](const Starts& starts, const Columns& columns, const Values<T>& values, const Vector& linear,
         const Vector& low, const Vector& high, double epsilon, int constraint, const Moved& beta,
         const Moved& w, double multiplier, double tolerance, Index visits, std::uint64_t seed,
         const nb::object& watch) {
        return descend(SparseRows<T>{starts.data(), columns.data(), values.data()}, linear, low, high,
                       epsilon, constraint, beta, w, multiplier, tolerance, visits, seed, watch);
      },
      "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "linear"_a.noconvert(),
      "low"_a.noconvert(), "high"_a.noconvert(), "epsilon"_a, "constraint"_a, "beta"_a.noconvert(),
      "w"_a.noconvert(), "multiplier"_a, "tolerance"_a, "visits"_a, "seed"_a, "watch"_a);
  m.def(
      "coordinate_descent_dense",
      [](const Table<T>& rows, const Vector& linear, const Vector& low, const Vector& high, double epsilon,
         int constraint, const Moved& beta, const Moved& w, double multiplier, double tolerance, Index visits,
         std::uint64_t seed, const nb::object& watch) {
        return descend(DenseRows<T>{rows.data(), static_cast<Index>(rows.shape(1))}, linear, low, high,
                       epsilon, constraint, beta, w, multiplier, tolerance, visits, seed, watch);
      },
      "rows"_a.noconvert(), "linear"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "epsilon"_a,
      "constraint"_a, "beta"_a.noconvert(), "w"_a.noconvert(), "multiplier"_a, "tolerance"_a, "visits"_a,
      "seed"_a, "watch"_a);
}

}  // namespace
}  // namespace mercer

void bind_descent(nanobind::module_& m) {
  mercer::bind<float>(m);
  mercer::bind<double>(m);
}

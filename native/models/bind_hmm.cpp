// mercer._native.forward_backward: native/models/hmm.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "hmm.hpp"

namespace nb = nanobind;

void bind_hmm(nb::module_& m) {
  using namespace mercer;
  using namespace nb::literals;
  using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Moves = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
  m.def(
      "forward_backward",
      [](const Vector& start, const Matrix& transitions, const Matrix& emissions, const Starts& starts,
         const Sums& log_likelihoods, const Rows& posteriors, const Moves& moves, int threads,
         const nb::object& watch) {
        HiddenChain chain{start.data(),
                          transitions.data(),
                          emissions.data(),
                          starts.data(),
                          static_cast<std::int64_t>(starts.shape(0)) - 1,
                          static_cast<std::int64_t>(start.shape(0))};
        double *sums = log_likelihoods.data(), *rows = posteriors.data(), *counts = moves.data();
        Look look = [&watch] {
          nb::gil_scoped_acquire acquire;
          watch();
        };
        nb::gil_scoped_release release;
        forward_backward(chain, sums, rows, counts, threads, look);
      },
      "start"_a.noconvert(), "transitions"_a.noconvert(), "emissions"_a.noconvert(), "starts"_a.noconvert(),
      "log_likelihoods"_a.noconvert(), "posteriors"_a.noconvert(), "moves"_a.noconvert(), "threads"_a,
      "watch"_a);
}

// mercer._native.forward_backward: native/models/hmm.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "../bindings.hpp"
#include "hmm.hpp"

namespace nb = nanobind;

void bind_hmm(nb::module_& m) {
  using namespace mercer;
  using namespace nb::literals;
  using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Tables = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
  m.def(
      "forward_backward",
      [](const Vector& start, const Matrix& transitions, const Matrix& emissions,
         const std::optional<Codes>& codes, const Indices& starts, const Sums& log_likelihoods,
         const Rows& first, const Tables& moves, const std::optional<Tables>& shown,
         const std::optional<Rows>& posteriors, int threads, const nb::object& watch) {
        HiddenChain chain{start.data(),
                          transitions.data(),
                          emissions.data(),
                          codes ? codes->data() : nullptr,
                          starts.data(),
                          static_cast<Index>(starts.shape(0)) - 1,
                          static_cast<Index>(start.shape(0)),
                          static_cast<Index>(emissions.shape(0))};
        HiddenSums sums{log_likelihoods.data(), first.data(), moves.data(), shown ? shown->data() : nullptr,
                        posteriors ? posteriors->data() : nullptr};
        Look look = [&watch] {
          nb::gil_scoped_acquire acquire;
          watch();
        };
        nb::gil_scoped_release release;
        forward_backward(chain, sums, threads, look);
      },
      "start"_a.noconvert(), "transitions"_a.noconvert(), "emissions"_a.noconvert(), "codes"_a.none(),
      "starts"_a.noconvert(), "log_likelihoods"_a.noconvert(), "first"_a.noconvert(), "moves"_a.noconvert(),
      "shown"_a.none(), "posteriors"_a.none(), "threads"_a, "watch"_a);
}

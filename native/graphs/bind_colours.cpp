// Colour refinement on arrays of NumPy; see colours.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>

#include "arrays.hpp"
#include "bindings.hpp"
#include "colours.hpp"

namespace nb = nanobind;

namespace {

using mercer::ArcRows;
using mercer::Codes;
using mercer::Index;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = mercer::Numbers;

// Arcs come as (starts, ends, codes).
ArcRows arcs_of(const nb::tuple& arcs) {
  return {nb::cast<Indices>(arcs[0]).data(), nb::cast<Indices>(arcs[1]).data(),
          nb::cast<Codes>(arcs[2]).data()};
}

bool transpose_arcs(const nb::tuple& arcs, const Vector<Index>& starts, const Vector<Index>& ends,
                    const Vector<std::int32_t>& codes) {
  ArcRows a = arcs_of(arcs);
  auto nodes = static_cast<Index>(starts.shape(0)) - 1;
  nb::gil_scoped_release release;
  return mercer::transpose_arcs(a, nodes, starts.data(), ends.data(), codes.data());
}

// Known keys come as (words, starts), new ones return so.
nb::tuple refine_colours(const nb::tuple& out, const nb::object& in, const Codes& colours,
                         const nb::tuple& known, const Vector<std::int32_t>& refined,
                         const nb::callable& watch) {
  ArcRows o = arcs_of(out), i{};
  if (!in.is_none()) i = arcs_of(nb::cast<nb::tuple>(in));
  auto starts = nb::cast<Indices>(known[1]);
  mercer::ColourKeys keys{nb::cast<Indices>(known[0]).data(), starts.data(),
                          static_cast<Index>(starts.shape(0)) - 1};
  mercer::NewKeys added;
  const ArcRows* into = in.is_none() ? nullptr : &i;
  mercer::Look look = mercer::look_of(watch);
  {
    nb::gil_scoped_release release;
    std::atomic<bool> stop{false};
    mercer::Watch calls(&look, stop);
    added = mercer::refine_colours(o, into, static_cast<Index>(colours.shape(0)), colours.data(), keys,
                                   refined.data(), [&] { calls.pause(); });
  }
  return nb::make_tuple(mercer::array_of(std::move(added.words)), mercer::array_of(std::move(added.starts)));
}

}  // namespace

void bind_colours(nb::module_& m) {
  using namespace nb::literals;
  m.def("transpose_arcs", &transpose_arcs, "arcs"_a, "starts"_a.noconvert(), "ends"_a.noconvert(),
        "codes"_a.noconvert());
  m.def("refine_colours", &refine_colours, "out"_a, "into"_a.none(), "colours"_a.noconvert(), "known"_a,
        "refined"_a.noconvert(), "watch"_a);
}

// Colour refinement on arrays of NumPy; see colours.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "automata/arrays.hpp"
#include "bindings.hpp"
#include "colours.hpp"

namespace nb = nanobind;

namespace {

using mercer::Arcs;
using mercer::Index;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = Vector<const std::int32_t>;
using Indices = Vector<const Index>;

// Arcs come as (starts, ends, codes).
Arcs arcs_of(const nb::tuple& arcs) {
  return {nb::cast<Indices>(arcs[0]).data(), nb::cast<Indices>(arcs[1]).data(),
          nb::cast<Codes>(arcs[2]).data()};
}

bool transpose_arcs(const nb::tuple& arcs, const Vector<Index>& starts, const Vector<Index>& ends,
                    const Vector<std::int32_t>& codes) {
  Arcs a = arcs_of(arcs);
  auto nodes = static_cast<Index>(starts.shape(0)) - 1;
  nb::gil_scoped_release release;
  return mercer::transpose_arcs(a, nodes, starts.data(), ends.data(), codes.data());
}

// Known keys come as (words, starts), new ones return so.
nb::tuple refine_colours(const nb::tuple& out, const nb::object& in, const Codes& colours,
                         const nb::tuple& known, const Vector<std::int32_t>& refined,
                         const nb::object& look) {
  Arcs o = arcs_of(out), i{};
  if (!in.is_none()) i = arcs_of(nb::cast<nb::tuple>(in));
  auto starts = nb::cast<Indices>(known[1]);
  mercer::Keys keys{nb::cast<Indices>(known[0]).data(), starts.data(),
                    static_cast<Index>(starts.shape(0)) - 1};
  mercer::OwnedKeys added;
  const Arcs* into = in.is_none() ? nullptr : &i;
  mercer::automata::Caller(look).run([&](mercer::automata::Watch& watch) {
    added = mercer::refine_colours(o, into, static_cast<Index>(colours.shape(0)), colours.data(), keys,
                                   refined.data(), [&] { watch.check(); });
  });
  return nb::make_tuple(mercer::automata::array_of(std::move(added.words)),
                        mercer::automata::array_of(std::move(added.starts)));
}

}  // namespace

void bind_colours(nb::module_& m) {
  using namespace nb::literals;
  m.def("transpose_arcs", &transpose_arcs, "arcs"_a, "starts"_a.noconvert(), "ends"_a.noconvert(),
        "codes"_a.noconvert());
  m.def("refine_colours", &refine_colours, "out"_a, "into"_a.none(), "colours"_a.noconvert(), "known"_a,
        "refined"_a.noconvert(), "look"_a);
}

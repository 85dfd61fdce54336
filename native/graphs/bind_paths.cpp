// Shortest paths and graphlets on arrays of NumPy.
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>

#include "../bindings.hpp"
#include "arrays.hpp"
#include "graphlets.hpp"
#include "shortest_paths.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Sets = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<Index, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Row starts of the graphs, then classes of first and last nodes, lengths and counts.
nb::tuple paths(const nb::tuple& graphs, const Codes& classes, const std::optional<Reals>& weights,
                int threads, const nb::callable& watch) {
  GraphBatch batch = graphs_of(graphs);
  Look look = look_of(watch);
  std::vector<Index> starts(1, 0), counts;
  std::vector<std::int32_t> from, to;
  std::vector<double> lengths;
  {
    nb::gil_scoped_release release;
    for (const auto& found :
         count_paths(batch, classes.data(), weights ? weights->data() : nullptr, threads, look)) {
      for (const PathCount& p : found) {
        from.push_back(p.from), to.push_back(p.to);
        lengths.push_back(p.length), counts.push_back(p.count);
      }
      starts.push_back(static_cast<Index>(from.size()));
    }
  }
  return nb::make_tuple(array_of(std::move(starts)), array_of(std::move(from)), array_of(std::move(to)),
                        array_of(std::move(lengths)), array_of(std::move(counts)));
}

void patterns(const nb::tuple& graphs, bool four, const Out& counts, int threads, const nb::callable& watch) {
  GraphBatch batch = graphs_of(graphs);
  Look look = look_of(watch);
  nb::gil_scoped_release release;
  count_patterns(batch, four, counts.data(), threads, look);
}

void connected(const nb::tuple& graphs, Index size, const Codes& types, bool at_nodes, const Out& counts,
               int threads, const nb::callable& watch) {
  GraphBatch batch = graphs_of(graphs);
  Look look = look_of(watch);
  auto n_types = static_cast<Index>(counts.shape(1));
  nb::gil_scoped_release release;
  count_connected(batch, size, types.data(), n_types, at_nodes, counts.data(), threads, look);
}

void sets(const nb::tuple& graphs, Index graph, const Sets& sets, const Codes& types, const Row& counts) {
  GraphBatch batch = graphs_of(graphs);
  nb::gil_scoped_release release;
  count_sets(batch, graph, static_cast<Index>(sets.shape(1)), sets.data(), static_cast<Index>(sets.shape(0)),
             types.data(), counts.data());
}

}  // namespace
}  // namespace mercer

void bind_paths(nb::module_& m) {
  using namespace nb::literals;
  m.def("count_paths", &mercer::paths, "graphs"_a, "classes"_a.noconvert(), "weights"_a.noconvert().none(),
        "threads"_a, "watch"_a);
  m.def("count_patterns", &mercer::patterns, "graphs"_a, "four"_a, "counts"_a.noconvert(), "threads"_a,
        "watch"_a);
  m.def("count_connected", &mercer::connected, "graphs"_a, "size"_a, "types"_a.noconvert(), "at_nodes"_a,
        "counts"_a.noconvert(), "threads"_a, "watch"_a);
  m.def("count_sets", &mercer::sets, "graphs"_a, "graph"_a, "sets"_a.noconvert(), "types"_a.noconvert(),
        "counts"_a.noconvert());
}

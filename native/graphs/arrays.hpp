// Graphs and results as Python holds them, for the bindings.  Graphs come as (node_starts, arc_starts,
// targets). `watch` is called now and then from the thread that called; what it raises ends the work.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

#include "../sequences/watched.hpp"
#include "batch.hpp"

namespace mercer {

namespace nb = nanobind;

using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline GraphBatch graphs_of(const nb::tuple& graphs) {
  auto node_starts = nb::cast<Numbers>(graphs[0], false);
  return {node_starts.data(), nb::cast<Numbers>(graphs[1], false).data(),
          nb::cast<Codes>(graphs[2], false).data(), static_cast<Index>(node_starts.shape(0)) - 1};
}

inline Look look_of(const nb::callable& watch) {
  return [&watch] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    watch();
  };
}

// Numbers as an array that owns them.
template <class T>
nb::object array_of(std::vector<T>&& values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* data = kept->data();
  std::size_t size = kept->size();
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

}  // namespace mercer

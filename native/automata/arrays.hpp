// Machines, classes of symbols and results as Python holds them, for the bindings.  A machine is a tuple of
// seven arrays, those of Machine in machine.py; classes of symbols are the two arrays of Coding.exclusions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "machine.hpp"
#include "watch.hpp"

namespace mercer::automata {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
const T* data_of(nb::handle array) {
  return nb::cast<Vector<T>>(array, false).data();
}

// The arrays must live as long as what refers to them.
inline View view_of(const nb::tuple& m) {
  auto initial = nb::cast<Vector<double>>(m[5], false);
  return {static_cast<State>(initial.shape(0)),
          data_of<Index>(m[0]),
          data_of<State>(m[1]),
          data_of<Label>(m[2]),
          data_of<Label>(m[3]),
          data_of<double>(m[4]),
          initial.data(),
          data_of<double>(m[6])};
}

inline Classes classes_of(const nb::tuple& exclusions) {
  auto starts = nb::cast<Vector<Index>>(exclusions[1], false);
  return {data_of<Label>(exclusions[0]), starts.data(), static_cast<Index>(starts.shape(0)) - 1};
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

// Work without the GIL that calls `look` now and then with it.  What `look` raises ends the work and comes
// out of run().
class Caller {
 public:
  explicit Caller(const nb::object& look)
      : watch_([this, &look] {
          nb::gil_scoped_acquire acquire;
          try {
            look();
          } catch (nb::python_error&) {
            raised_ = std::current_exception();
          }
          return !raised_;
        }) {}

  template <class Work>
  void run(Work&& work) {
    try {
      nb::gil_scoped_release release;
      work(watch_);
    } catch (const Stopped&) {
      std::rethrow_exception(raised_);
    }
  }

 private:
  std::exception_ptr raised_;
  Watch watch_;
};

}  // namespace mercer::automata

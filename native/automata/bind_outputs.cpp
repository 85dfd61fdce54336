// mercer._native.Outputs: the strings that a transducer writes; see outputs.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "outputs.hpp"

namespace nb = nanobind;

namespace mercer::automata {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
const T* data_of(nb::handle array) {
  return nb::cast<Vector<T>>(array, false).data();
}

// Numbers as an array that owns them.
template <class T>
nb::object array_of(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// Calls `look` now and then, which may raise.
struct Caller {
  std::exception_ptr raised;
  Watch watch;

  explicit Caller(const nb::object& look)
      : watch([this, &look] {
          nb::gil_scoped_acquire acquire;
          try {
            look();
          } catch (nb::python_error&) {
            raised = std::current_exception();
          }
          return !raised;
        }) {}
};

// A reader with the arrays of its machine, which live as long as it does.
class BoundOutputs {
 public:
  BoundOutputs(nb::tuple machine, nb::tuple exclusions)
      : machine_(machine), outputs_(view_of(machine), classes_of(exclusions)) {}

  // For each string the outputs by node: where those of each string end, nodes, weights.  None if there are
  // too many.
  nb::object read(const Vector<Label>& codes, const Vector<Index>& starts, Index limit,
                  const nb::object& look) {
    Caller caller(look);
    std::vector<Index> ends{0};
    std::vector<std::int32_t> nodes;
    std::vector<double> weights;
    try {
      nb::gil_scoped_release release;
      std::vector<Entry> found;
      for (std::size_t i = 0; i + 1 < starts.shape(0); ++i) {
        const Index* at = starts.data() + i;
        outputs_.read(codes.data() + at[0], at[1] - at[0], limit, found, caller.watch);
        for (Entry entry : found) nodes.push_back(entry.node), weights.push_back(entry.weight);
        ends.push_back(static_cast<Index>(nodes.size()));
      }
    } catch (const Stopped&) {
      std::rethrow_exception(caller.raised);
    } catch (const TooManyOutputs&) {
      return nb::none();
    }
    return nb::make_tuple(array_of(std::move(ends)), array_of(std::move(nodes)),
                          array_of(std::move(weights)));
  }

  nb::tuple tree() const {
    return nb::make_tuple(array_of(std::vector<std::int32_t>(outputs_.parents)),
                          array_of(std::vector<Label>(outputs_.symbols)));
  }

  Index steps() const { return outputs_.steps; }

 private:
  static View view_of(const nb::tuple& m) {
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
  static Classes classes_of(const nb::tuple& exclusions) {
    auto starts = nb::cast<Vector<Index>>(exclusions[1], false);
    return {data_of<Label>(exclusions[0]), starts.data(), static_cast<Index>(starts.shape(0)) - 1};
  }

  nb::tuple machine_;
  Outputs outputs_;
};

Listed listed_of(const nb::tuple& outputs) {
  return {data_of<Index>(outputs[0]), data_of<std::int32_t>(outputs[1]), data_of<double>(outputs[2])};
}

void multiply(const nb::tuple& x, const Vector<Index>& rows, const nb::tuple& y, const Vector<Index>& cols,
              const Vector<std::int32_t>& table, Index width,
              const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& out, int threads,
              const nb::object& look) {
  Caller caller(look);
  Listed first = listed_of(x), second = listed_of(y);
  try {
    nb::gil_scoped_release release;
    inner_products(first, rows.data(), static_cast<Index>(rows.shape(0)), second, cols.data(),
                   static_cast<Index>(cols.shape(0)), table.data(), width, out.data(), threads, caller.watch);
  } catch (const Stopped&) {
    std::rethrow_exception(caller.raised);
  }
}

}  // namespace
}  // namespace mercer::automata

void bind_outputs(nanobind::module_& m) {
  using namespace nb::literals;
  using mercer::automata::BoundOutputs;
  m.def("outputs_inner_products", &mercer::automata::multiply, "x"_a, "rows"_a.noconvert(), "y"_a,
        "cols"_a.noconvert(), "table"_a.noconvert(), "width"_a, "out"_a.noconvert(), "threads"_a, "look"_a);
  nb::class_<BoundOutputs>(m, "Outputs")
      .def(nb::init<nb::tuple, nb::tuple>(), "machine"_a, "exclusions"_a)
      .def("read", &BoundOutputs::read, "codes"_a.noconvert(), "starts"_a.noconvert(), "limit"_a, "look"_a)
      .def("tree", &BoundOutputs::tree)
      .def_prop_ro("steps", &BoundOutputs::steps);
}

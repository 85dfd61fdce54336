// mercer._native.Outputs: the strings that a transducer writes; see outputs.hpp.
#include "../bindings.hpp"
#include "arrays.hpp"
#include "outputs.hpp"

namespace mercer::automata {
namespace {

// A reader with the arrays of its machine, which live as long as it does.
class BoundOutputs {
 public:
  BoundOutputs(nb::tuple machine, nb::tuple exclusions)
      : machine_(machine), outputs_(view_of(machine), classes_of(exclusions)) {}

  // For each string the outputs by node: where those of each string end, nodes, weights.  None if there are
  // too many.
  nb::object read(const Vector<Label>& codes, const Vector<Index>& starts, Index limit,
                  const nb::object& look) {
    std::vector<Index> ends{0};
    std::vector<std::int32_t> nodes;
    std::vector<double> weights;
    try {
      Caller(look).run([&](Watch& watch) {
        std::vector<Entry> found;
        for (std::size_t i = 0; i + 1 < starts.shape(0); ++i) {
          const Index* at = starts.data() + i;
          outputs_.read(codes.data() + at[0], at[1] - at[0], limit, found, watch);
          for (Entry entry : found) nodes.push_back(entry.node), weights.push_back(entry.weight);
          ends.push_back(static_cast<Index>(nodes.size()));
        }
      });
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
  Listed first = listed_of(x), second = listed_of(y);
  Caller(look).run([&](Watch& watch) {
    inner_products(first, rows.data(), static_cast<Index>(rows.shape(0)), second, cols.data(),
                   static_cast<Index>(cols.shape(0)), table.data(), width, out.data(), threads, watch);
  });
}

}  // namespace
}  // namespace mercer::automata

void bind_outputs(nanobind::module_& m) {
  namespace nb = nanobind;
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

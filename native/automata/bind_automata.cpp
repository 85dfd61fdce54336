// mercer._native: functions of machines, for mercer.automata.
#include <nanobind/stl/vector.h>

#include "../bindings.hpp"
#include "arrays.hpp"
#include "compose.hpp"
#include "intersect.hpp"
#include "sums.hpp"

namespace mercer::automata {
namespace {

using Result = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Strings strings_of(const nb::tuple& strings) {
  return {data_of<Label>(strings[0]), data_of<Index>(strings[1])};
}

Packed packed_of(const nb::tuple& p) {
  return {data_of<Index>(p[0]),  data_of<Index>(p[1]),  data_of<State>(p[2]),  data_of<Label>(p[3]),
          data_of<double>(p[4]), data_of<double>(p[5]), data_of<double>(p[6]), data_of<std::uint8_t>(p[7])};
}

nb::tuple arrays_of(Machine&& m) {
  return nb::make_tuple(array_of(std::move(m.starts)), array_of(std::move(m.target)),
                        array_of(std::move(m.input)), array_of(std::move(m.output)),
                        array_of(std::move(m.weight)), array_of(std::move(m.initial)),
                        array_of(std::move(m.final)));
}

// Runs work(semiring, watch) for the caller.  What goes wrong in a machine comes back as a tuple (name,
// details...), which Python turns into an error.
template <class Work>
nb::object run(int semiring, const nb::object& look, Work&& work) {
  try {
    Caller(look).run([&](Watch& watch) { with_semiring(semiring, [&](auto s) { work(s, watch); }); });
  } catch (Divergence& error) {
    return nb::make_tuple("divergence", error.states);
  } catch (const TooLarge& error) {
    return nb::make_tuple("component", error.size);
  } catch (const InfiniteSum&) {
    return nb::make_tuple("classes");
  }
  return nb::none();
}

nb::object compose_all(const std::vector<nb::tuple>& machines, const nb::tuple& exclusions, int semiring,
                       bool connect, const nb::object& look) {
  std::vector<View> views;
  for (const nb::tuple& m : machines) views.push_back(view_of(m));
  Classes classes = classes_of(exclusions);
  Machine result;
  nb::object trouble = run(semiring, look, [&](auto s, Watch& watch) {
    using S = decltype(s);
    result = compose<S>(views, classes, watch);
    if (connect) result = restricted(result.view(), states_that_end(result.view(), S::zero), S::zero);
    sort_arcs(result);
  });
  if (!trouble.is_none()) return trouble;
  return nb::make_tuple(arrays_of(std::move(result)), nb::cast(classes.excluded()));
}

nb::tuple sort(int n_states, const Vector<State>& source, const Vector<State>& target,
               const Vector<Label>& input, const Vector<Label>& output, const Vector<double>& weight) {
  Machine m;
  {
    nb::gil_scoped_release release;
    m = machine_of(n_states, static_cast<Index>(source.shape(0)), source.data(), target.data(), input.data(),
                   output.data(), weight.data());
  }
  return nb::make_tuple(array_of(std::move(m.starts)), array_of(std::move(m.target)),
                        array_of(std::move(m.input)), array_of(std::move(m.output)),
                        array_of(std::move(m.weight)));
}

nb::object trim(const nb::tuple& machine, double zero) {
  View view = view_of(machine);
  Machine result;
  {
    nb::gil_scoped_release release;
    result = trimmed(view, zero);
  }
  return arrays_of(std::move(result));
}

nb::object total(const nb::tuple& machine, int semiring, const nb::object& look) {
  View view = view_of(machine);
  double value = 0.0;
  nb::object trouble =
      run(semiring, look, [&](auto s, Watch& watch) { value = total_weight<decltype(s)>(view, watch); });
  return trouble.is_none() ? nb::cast(value) : trouble;
}

nb::object remove_silent(const nb::tuple& machine, int semiring, const nb::object& look) {
  View view = view_of(machine);
  Machine result;
  nb::object trouble =
      run(semiring, look, [&](auto s, Watch& watch) { result = without_epsilons<decltype(s)>(view, watch); });
  return trouble.is_none() ? arrays_of(std::move(result)) : trouble;
}

nb::object weigh_strings(const nb::tuple& machine, const nb::tuple& exclusions, int semiring,
                         const nb::tuple& x, const nb::tuple& y, const Vector<Index>& rows,
                         const Vector<Index>& cols, const Result& out, int threads, const nb::object& look) {
  View view = view_of(machine);
  Classes classes = classes_of(exclusions);
  Strings first = strings_of(x), second = strings_of(y);
  return run(semiring, look, [&](auto s, Watch& watch) {
    string_weights<decltype(s)>(view, classes, first, second, rows.data(), cols.data(),
                                static_cast<Index>(rows.shape(0)), out.data(), threads, watch);
  });
}

// The arrays of Packed for a list of machines.
nb::tuple pack(std::vector<Machine>& machines, std::vector<std::uint8_t>&& acyclic) {
  std::vector<Index> states{0};
  Machine all;
  auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (Machine& m : machines) {
    Index offset = all.starts.back();
    for (std::size_t q = 1; q < m.starts.size(); ++q) all.starts.push_back(offset + m.starts[q]);
    append(all.target, m.target);
    append(all.input, m.input);
    append(all.weight, m.weight);
    append(all.initial, m.initial);
    append(all.final, m.final);
    states.push_back(static_cast<Index>(all.initial.size()));
    m = Machine();
  }
  return nb::make_tuple(array_of(std::move(states)), array_of(std::move(all.starts)),
                        array_of(std::move(all.target)), array_of(std::move(all.input)),
                        array_of(std::move(all.weight)), array_of(std::move(all.initial)),
                        array_of(std::move(all.final)), array_of(std::move(acyclic)));
}

nb::object write_automata(const nb::tuple& machine, const nb::tuple& exclusions, int semiring,
                          const nb::tuple& x, int threads, const nb::object& look) {
  View view = view_of(machine);
  Classes classes = classes_of(exclusions);
  Strings strings = strings_of(x);
  Index count = static_cast<Index>(nb::cast<Vector<Index>>(x[1], false).shape(0)) - 1;
  std::vector<Machine> machines;
  std::vector<std::uint8_t> acyclic;
  nb::object trouble = run(semiring, look, [&](auto s, Watch& watch) {
    machines = output_automata<decltype(s)>(view, classes, strings, count, acyclic, threads, watch);
  });
  return trouble.is_none() ? pack(machines, std::move(acyclic)) : trouble;
}

nb::object prepare_automata(const std::vector<nb::tuple>& automata, int semiring, int threads,
                            const nb::object& look) {
  std::vector<View> views;
  for (const nb::tuple& m : automata) views.push_back(view_of(m));
  std::vector<Machine> machines;
  std::vector<std::uint8_t> acyclic;
  nb::object trouble = run(semiring, look, [&](auto s, Watch& watch) {
    machines = prepared_automata<decltype(s)>(views, acyclic, threads, watch);
  });
  return trouble.is_none() ? pack(machines, std::move(acyclic)) : trouble;
}

nb::object weigh_intersections(const nb::tuple& a, const nb::tuple& b, int semiring,
                               const Vector<Index>& rows, const Vector<Index>& cols, const Result& out,
                               int threads, const nb::object& look) {
  Packed first = packed_of(a), second = packed_of(b);
  return run(semiring, look, [&](auto s, Watch& watch) {
    intersect_weights<decltype(s)>(first, second, rows.data(), cols.data(), static_cast<Index>(rows.shape(0)),
                                   out.data(), threads, watch);
  });
}

bool has_no_cycle(const nb::tuple& machine, int semiring) {
  View view = view_of(machine);
  nb::gil_scoped_release release;
  return with_semiring(semiring, [&](auto s) { return is_acyclic<decltype(s)>(view); });
}

}  // namespace
}  // namespace mercer::automata

void bind_automata(nanobind::module_& m) {
  using namespace nanobind::literals;
  using namespace mercer::automata;
  m.attr("LARGEST_COMPONENT") = kLargestComponent;
  m.def("automata_sort", &sort, "n_states"_a, "source"_a.noconvert(), "target"_a.noconvert(),
        "input"_a.noconvert(), "output"_a.noconvert(), "weight"_a.noconvert());
  m.def("automata_compose", &compose_all, "machines"_a, "exclusions"_a, "semiring"_a, "connect"_a, "look"_a);
  m.def("automata_trim", &trim, "machine"_a, "zero"_a);
  m.def("automata_total_weight", &total, "machine"_a, "semiring"_a, "look"_a);
  m.def("automata_remove_epsilons", &remove_silent, "machine"_a, "semiring"_a, "look"_a);
  m.def("automata_is_acyclic", &has_no_cycle, "machine"_a, "semiring"_a);
  m.def("automata_string_weights", &weigh_strings, "machine"_a, "exclusions"_a, "semiring"_a, "x"_a, "y"_a,
        "rows"_a.noconvert(), "cols"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "look"_a);
  m.def("automata_outputs", &write_automata, "machine"_a, "exclusions"_a, "semiring"_a, "x"_a, "threads"_a,
        "look"_a);
  m.def("automata_prepare", &prepare_automata, "automata"_a, "semiring"_a, "threads"_a, "look"_a);
  m.def("automata_intersect_weights", &weigh_intersections, "a"_a, "b"_a, "semiring"_a, "rows"_a.noconvert(),
        "cols"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "look"_a);
}

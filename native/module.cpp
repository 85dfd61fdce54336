// mercer._native: array-in, array-out functions for src/mercer/engine.  Nothing is validated here: shapes
// agree, `out` has stride 1 along its rows, compressed rows are canonical.  The GIL is released throughout.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#ifdef _OPENMP
#  include <omp.h>
#endif

#include "bindings.hpp"
#include "dot.hpp"
#include "drivers.hpp"
#include "program.hpp"

namespace nb = nanobind;

namespace {

using mercer::Index;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class T>
mercer::Dense<T> dense(const Matrix<T>& A) {
  auto cols = static_cast<Index>(A.shape(1));
  return {A.data(), static_cast<Index>(A.shape(0)), cols, cols};
}

template <class T>
mercer::Output<T> output(const Out<T>& out) {
  // A single row has no distance to the next one, and NumPy may state any.
  return {out.data(),
          out.shape(0) > 1 ? static_cast<Index>(out.stride(0)) : static_cast<Index>(out.shape(1))};
}

// Runs `work` without the GIL; its status becomes an exception only when the GIL is held again.
template <class Work>
void released(Work&& work) {
  mercer::Status status;
  {
    nb::gil_scoped_release release;
    status = work();
  }
  if (status == mercer::kOutOfMemory) throw std::bad_alloc();
}

template <class T>
void bind_dense(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "pairwise",
      [](int op, const Matrix<T>& X, const Matrix<T>& Y, const Out<T>& out, int threads) {
        auto x = dense(X), y = dense(Y);
        auto o = output(out);
        released([=] {
          if (op != mercer::kDot) return mercer::pairwise(op, x, y, o, threads);
          mercer::dot(x, y, o, threads);
          return mercer::kOk;
        });
      },
      "op"_a, "X"_a.noconvert(), "Y"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def(
      "anova",
      [](const Matrix<T>& X, const Matrix<T>& Y, const Vector<double>& weights,
         const Vector<double>& coefficients, const Out<T>& out, int threads) {
        auto x = dense(X), y = dense(Y);
        auto o = output(out);
        const double *w = weights.data(), *c = coefficients.data();
        Index degree = static_cast<Index>(coefficients.shape(0)) - 1;
        released([=] { return mercer::anova(x, y, w, c, degree, o, threads); });
      },
      "X"_a.noconvert(), "Y"_a.noconvert(), "weights"_a.noconvert(), "coefficients"_a.noconvert(),
      "out"_a.noconvert(), "threads"_a);
  m.def(
      "all_subsets",
      [](const Matrix<T>& X, const Matrix<T>& Y, const Vector<double>& weights, const Out<T>& out,
         int threads) {
        auto x = dense(X), y = dense(Y);
        auto o = output(out);
        const double* w = weights.data();
        released([=] { return mercer::all_subsets(x, y, w, o, threads); });
      },
      "X"_a.noconvert(), "Y"_a.noconvert(), "weights"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}

template <class T, class I>
void bind_sparse(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "csr_pairwise",
      [](int op, const Vector<T>& x, const Vector<I>& x_indices, const Vector<I>& x_indptr,
         const Vector<T>& y, const Vector<I>& y_indices, const Vector<I>& y_indptr, const Out<T>& out,
         int threads) {
        mercer::Csr<T, I> X{x.data(), x_indices.data(), x_indptr.data(), static_cast<Index>(out.shape(0))};
        mercer::Csr<T, I> Y{y.data(), y_indices.data(), y_indptr.data(), static_cast<Index>(out.shape(1))};
        auto o = output(out);
        released([=] { return mercer::csr_pairwise(op, X, Y, o, threads); });
      },
      "op"_a, "x_data"_a.noconvert(), "x_indices"_a.noconvert(), "x_indptr"_a.noconvert(),
      "y_data"_a.noconvert(), "y_indices"_a.noconvert(), "y_indptr"_a.noconvert(), "out"_a.noconvert(),
      "threads"_a);
}

// A program with the arrays that it reads, which live as long as it does.
struct BoundProgram {
  mercer::Program program;
  std::vector<nb::object> arrays;
};

const double* vector_of(BoundProgram& bound, nb::handle array) {
  bound.arrays.push_back(nb::borrow(array));
  return nb::cast<Vector<double>>(array).data();
}

// The data of an array of one of two types; says whether it is the second.
template <class First, class Second>
const void* either(nb::handle array, bool& second) {
  First a;
  second = !nb::try_cast(array, a, false);
  return second ? static_cast<const void*>(nb::cast<Second>(array, false).data()) : a.data();
}

// Rows come as a matrix or, compressed, as (data, indices, indptr).
mercer::Rows rows_of(BoundProgram& bound, nb::handle rows, bool& single, bool& wide) {
  bound.arrays.push_back(nb::borrow(rows));
  if (!nb::isinstance<nb::tuple>(rows))
    return {either<Matrix<double>, Matrix<float>>(rows, single), nullptr, nullptr};
  using Narrow = Vector<std::int32_t>;
  using Wide = Vector<std::int64_t>;
  return {either<Vector<double>, Vector<float>>(rows[0], single), either<Narrow, Wide>(rows[1], wide),
          either<Narrow, Wide>(rows[2], wide)};
}

mercer::Points points_of(BoundProgram& bound, nb::handle pair) {
  mercer::Points points{};
  Matrix<std::uint64_t> words;
  if (nb::try_cast(pair[0], words, false)) {
    for (int side = 0; side < 2; ++side) bound.arrays.push_back(nb::borrow(pair[side]));
    points.left.data = words.data();
    points.right.data = nb::cast<Matrix<std::uint64_t>>(pair[1]).data();
    points.words = static_cast<Index>(words.shape(1));
    return points;
  }
  points.left = rows_of(bound, pair[0], points.single, points.wide);
  points.right = rows_of(bound, pair[1], points.single, points.wide);
  points.cols = nb::cast<Index>(pair[2]);
  return points;
}

// What the run ended with, as Python sees it: -1, or the number of the step whose check failed.
template <class Work>
Index run_released(Work&& work) {
  Index end;
  {
    nb::gil_scoped_release release;
    end = work();
  }
  if (end == mercer::kNoMemory) throw std::bad_alloc();
  return end;
}

template <class T>
Index run_dense(const BoundProgram& bound, Index first, Index last, const Out<T>& out, int threads,
                const std::optional<Vector<Index>>& slots) {
  auto o = output(out);
  const Index* s = slots ? slots->data() : nullptr;
  return run_released([&] { return mercer::run_dense(bound.program, first, last, o, s, threads); });
}

void bind_program(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BoundProgram>(m, "Program")
      .def(
          "__init__",
          [](BoundProgram* self, const Matrix<Index>& steps, const Vector<double>& parameters,
             const nb::list& points, const nb::list& vectors, const nb::list& opaque, Index rows, Index cols,
             Index registers, bool symmetric, Index edge, double cost, bool to_single) {
            new (self) BoundProgram;
            mercer::Program& p = self->program;
            const Index* s = steps.data();
            for (std::size_t k = 0; k < steps.shape(0); ++k, s += 6)
              p.steps.push_back({s[0], s[1], s[2], s[3], s[4], s[5]});
            p.parameters.assign(parameters.data(), parameters.data() + parameters.shape(0));
            for (nb::handle pair : points) p.points.push_back(points_of(*self, pair));
            for (nb::handle pair : vectors) {
              p.rowwise.push_back(vector_of(*self, pair[0]));
              p.colwise.push_back(vector_of(*self, pair[1]));
            }
            for (nb::handle array : opaque) {
              self->arrays.push_back(nb::borrow(array));
              auto matrix = nb::cast<Matrix<double>>(array);
              p.opaque.push_back({matrix.data(), static_cast<Index>(matrix.shape(1))});
            }
            p.rows = rows, p.cols = cols, p.registers = registers;
            p.symmetric = symmetric, p.edge = edge, p.cost = cost, p.to_single = to_single;
          },
          "steps"_a, "parameters"_a, "points"_a, "vectors"_a, "opaque"_a, "rows"_a, "cols"_a, "registers"_a,
          "symmetric"_a, "edge"_a, "cost"_a, "to_single"_a)
      .def_prop_ro("tiles", [](const BoundProgram& bound) { return bound.program.tiles(); })
      .def("dense", &run_dense<double>, "first"_a, "last"_a, "out"_a.noconvert(), "threads"_a,
           "slots"_a.noconvert() = nb::none())
      .def("dense", &run_dense<float>, "first"_a, "last"_a, "out"_a.noconvert(), "threads"_a,
           "slots"_a.noconvert() = nb::none())
      .def(
          "packed",
          [](const BoundProgram& bound, Index first, Index last,
             nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> tiles, int threads) {
            double* data = tiles.data();
            return run_released(
                [&] { return mercer::run_packed(bound.program, first, last, data, threads); });
          },
          "first"_a, "last"_a, "tiles"_a.noconvert(), "threads"_a)
      .def(
          "product",
          [](const BoundProgram& bound, const std::vector<Index>& lanes, Index parts, bool half, Index first,
             Index last, const Matrix<double>& V, nb::ndarray<double, nb::c_contig, nb::device::cpu> sums,
             int threads) {
            const double* v = V.data();
            auto width = static_cast<Index>(V.shape(1));
            double* s = sums.data();
            return run_released([&] {
              return mercer::run_product(bound.program, lanes, parts, half, first, last, v, width, s,
                                         threads);
            });
          },
          "lanes"_a, "parts"_a, "half"_a, "first"_a, "last"_a, "V"_a.noconvert(), "sums"_a.noconvert(),
          "threads"_a);
}

// A capsule of scipy.linalg.cython_blas carries its C signature as its name.  The pointer is taken only when
// that signature counts in plain int, which is what Gemm declares.
template <class T>
mercer::Gemm<T> gemm_of(nb::handle capsule) {
  const char* name = PyCapsule_GetName(capsule.ptr());
  if (name == nullptr || std::strncmp(name, "void (char *, char *, int *, int *, int *, ", 43) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return reinterpret_cast<mercer::Gemm<T>>(PyCapsule_GetPointer(capsule.ptr(), name));
}

int max_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

void choose_isa() {
  const char* name = std::getenv("MERCER_ISA");
  if (mercer::choose_isa(name == nullptr ? "" : name)) return;
  std::string message =
      std::string("mercer: MERCER_ISA must name an instruction set that this machine runs. Got '") + name +
      "'. Available here:";
  for (const std::string& other : mercer::available_isas()) message += " " + other;
  throw nb::import_error((message + ". Unset MERCER_ISA to take the best of them.").c_str());
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "Native core of mercer: tiles of pairwise functions on contiguous arrays.";
  choose_isa();

  m.attr("SQEUCLIDEAN") = static_cast<int>(mercer::kSqEuclidean);
  m.attr("L1") = static_cast<int>(mercer::kL1);
  m.attr("MIN") = static_cast<int>(mercer::kMin);
  m.attr("MAX") = static_cast<int>(mercer::kMax);
  m.attr("CHI2") = static_cast<int>(mercer::kChiSquare);
  m.attr("JENSEN") = static_cast<int>(mercer::kJensen);
  m.attr("DOT") = static_cast<int>(mercer::kDot);

  m.def("isa", [] { return mercer::isa(); });
  m.def("available_isas", &mercer::available_isas);
  m.def("max_threads", &max_threads);
  m.def("set_gemm", [](nb::handle dgemm, nb::handle sgemm) {
    mercer::set_gemm(gemm_of<double>(dgemm), gemm_of<float>(sgemm));
    return mercer::has_gemm();
  });

  const char* steps[] = {"ANOVA",          "ALL_SUBSETS", "CAUCHY", "OPAQUE",   "CONSTANT",   "ADD",
                         "MULTIPLY",       "DIVIDE",      "SCALE",  "SHIFT",    "RECIPROCAL", "INTEGER_POWER",
                         "REAL_POWER",     "EXP",         "LOG1P",  "TANH",     "SQRT",       "HORNER",
                         "OUTER_MULTIPLY", "OUTER_ADD",   "CLIP",   "DIAGONAL", "WITHIN",     "NONZERO",
                         "LOOKUP"};
  for (int op = mercer::kAnova; op < mercer::kStepEnd; ++op) m.attr(steps[op - mercer::kAnova]) = op;
  m.attr("TILE") = mercer::kTileRows;
  m.attr("MOST_VECTORS") = mercer::kMostVectors;

  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_program(m);
  bind_automata(m);
  bind_string_pairs(m);
  bind_smo(m);
  bind_descent(m);
  bind_paths(m);
  bind_outputs(m);
  bind_ngrams(m);
  bind_packed(m);
  bind_rows(m);
  bind_pairs(m);
  bind_reduced(m);
  bind_substrings(m);
  bind_hmm(m);
  bind_processes(m);
  bind_tangent(m);
  bind_series(m);
  bind_chebyshev(m);
  bind_walks(m);
  bind_fourier(m);
  bind_colours(m);
  bind_trees(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
}

// The parts of the module mercer._native that are not in module.cpp.
#pragma once

#include <nanobind/nanobind.h>

void bind_automata(nanobind::module_& m);
void bind_chebyshev(nanobind::module_& m);
void bind_fourier(nanobind::module_& m);
void bind_colours(nanobind::module_& m);
void bind_string_pairs(nanobind::module_& m);
void bind_smo(nanobind::module_& m);
void bind_descent(nanobind::module_& m);
void bind_paths(nanobind::module_& m);
void bind_outputs(nanobind::module_& m);
void bind_ngrams(nanobind::module_& m);
void bind_packed(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_reduced(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_substrings(nanobind::module_& m);
void bind_hmm(nanobind::module_& m);
void bind_tangent(nanobind::module_& m);
void bind_series(nanobind::module_& m);
void bind_walks(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_processes(nanobind::module_& m);

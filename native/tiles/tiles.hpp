// The functions of this instruction set, collected into its table by table.cpp.
#pragma once

#include "../table.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {

void fill_pairwise(Table& table);
void fill_sparse(Table& table);
void fill_columns(Table& table);
void fill_products(Table& table);
void fill_steps(Table& table);
void fill_sinks(Table& table);
void fill_packed(Table& table);
void fill_smo(Table& table);
void fill_bits(Table& table);
void fill_reduced(Table& table);
void fill_subsequences(Table& table);
void fill_string_pairs(Table& table);
void fill_agreements(Table& table);
void fill_alignments(Table& table);
void fill_fourier(Table& table);
void fill_hidden(Table& table);

}  // namespace mercer::MERCER_TILES

#include "../table.hpp"

#include "tiles.hpp"

namespace mercer::MERCER_TILES {

void fill(Table& table) {
  fill_pairwise(table);
  fill_sparse(table);
  fill_columns(table);
  fill_products(table);
  fill_steps(table);
  fill_sinks(table);
  fill_packed(table);
  fill_smo(table);
  fill_bits(table);
  fill_reduced(table);
  fill_subsequences(table);
  fill_string_pairs(table);
  fill_agreements(table);
  fill_alignments(table);
  fill_fourier(table);
  fill_hidden(table);
}

}  // namespace mercer::MERCER_TILES

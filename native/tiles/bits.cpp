// Dot products and squared distances of rows of zeros and ones, 64 features in a word: one operation on words
// and a count of bits.  Sums of zeros and ones are whole numbers, so that the values have the very bits that
// dense rows give.
//
// The words of the right rows are turned over, so that a vector holds the same word of kLanes rows.
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

#if MERCER_VECTORS
typedef std::uint64_t Words __attribute__((vector_size(kLanes * 8)));
#else
using Words = std::uint64_t;
#endif

MERCER_INLINE Words load_words(const std::uint64_t* p) {
  Words a;
  std::memcpy(&a, p, sizeof a);
  return a;
}

// The number of bits of each word, at most 64, in every lane: by small steps, or by an instruction.
struct BySteps {
  static MERCER_INLINE Words of(Words a);
};

#if defined(__AVX2__) && !defined(__AVX512F__)
MERCER_INLINE Words BySteps::of(Words a) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2,
                                         3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(15);
  auto words = reinterpret_cast<__m256i>(a);
  __m256i halves =
      _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(words, low)),
                      _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(words, 4), low)));
  return reinterpret_cast<Words>(_mm256_sad_epu8(halves, _mm256_setzero_si256()));
}
#elif defined(__AVX512F__)
MERCER_INLINE Words BySteps::of(Words a) {
  const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i low = _mm512_set1_epi8(15);
  auto words = reinterpret_cast<__m512i>(a);
  __m512i halves =
      _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(words, low)),
                      _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(words, 4), low)));
  return reinterpret_cast<Words>(_mm512_sad_epu8(halves, _mm512_setzero_si512()));
}
#else
MERCER_INLINE Words BySteps::of(Words a) {
  a = a - ((a >> 1) & 0x5555555555555555u);
  a = (a & 0x3333333333333333u) + ((a >> 2) & 0x3333333333333333u);
  a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (a * 0x0101010101010101u) >> 56;
}
#endif

#if defined(__AVX512F__)
// Not all machines with AVX-512 have it, so the compiler may not use it by itself.
struct ByInstruction {
  static MERCER_INLINE Words of(Words a) {
    Words count;
    __asm__("vpopcntq %1, %0" : "=v"(count) : "v"(a));
    return count;
  }
};
#endif

// Counts below 2^52 as doubles: they become the last digits of 2^52, which is then taken away.
MERCER_INLINE Vec as_numbers(Words a) {
  Words shifted = a | 0x4330000000000000u;
  Vec numbers;
  std::memcpy(&numbers, &shifted, sizeof numbers);
  return numbers - 0x1p52;
}

struct Both {
  static MERCER_INLINE Words of(std::uint64_t x, Words y) { return x & y; }
};

struct Differ {
  static MERCER_INLINE Words of(std::uint64_t x, Words y) { return x ^ y; }
};

template <class Combine, class Count>
void fill(BitRows X, BitRows Y, double* target, double* work) {
  auto* turned = reinterpret_cast<std::uint64_t*>(work);
  for (Index first = 0; first < X.words; first += kBitWords) {
    Index words = X.words - first < kBitWords ? X.words - first : kBitWords;
    for (Index j = 0; j < kTileCols; ++j)
      for (Index w = 0; w < words; ++w)
        turned[w * kTileCols + j] = j < Y.rows ? Y.data[j * Y.words + first + w] : 0;
    for (Index i = 0; i < X.rows; ++i) {
      const std::uint64_t* x = X.data + i * X.words + first;
      double* row = target + i * kTileCols;
      for (Index j = 0; j < Y.rows; j += kLanes) {
        Words count = {};
        for (Index w = 0; w < words; ++w)
          count += Count::of(Combine::of(x[w], load_words(turned + w * kTileCols + j)));
        Vec sum = as_numbers(count);
        store(row + j, first == 0 ? sum : sum + load(row + j));
      }
    }
  }
}

}  // namespace

void fill_bits(Table& table) {
  table.fill_bits_dot = fill<Both, BySteps>;
  table.fill_bits_distances = fill<Differ, BySteps>;
#if defined(__AVX512F__)
  if (__builtin_cpu_supports("avx512vpopcntdq")) {
    table.fill_bits_dot = fill<Both, ByInstruction>;
    table.fill_bits_distances = fill<Differ, ByInstruction>;
  }
#endif
}

}  // namespace mercer::MERCER_TILES

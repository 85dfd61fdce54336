// Elementwise steps on the registers of a tile: one function each, collected into a table by their opcode.
//
// Rows are padded to whole vectors.  What stands in the padding has no meaning, and only checks, which look
// at numbers one by one, must leave it out.
#include "functions.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

MERCER_INLINE double* at(const Strip& strip, Index reg, Index row) {
  return strip.registers + reg * kRegister + row * kTileCols;
}

// target = function(a), number by number.
template <class Function>
MERCER_INLINE bool map(const Step& step, const Strip& strip, Function function) {
  for (Index i = 0; i < strip.rows; ++i) {
    const double* a = at(strip, step.a, i);
    double* target = at(strip, step.target, i);
    for (Index j = 0; j < strip.cols; j += kLanes) store(target + j, function(load(a + j)));
  }
  return true;
}

// target = function(a, b).
template <class Function>
MERCER_INLINE bool map2(const Step& step, const Strip& strip, Function function) {
  for (Index i = 0; i < strip.rows; ++i) {
    const double *a = at(strip, step.a, i), *b = at(strip, step.b, i);
    double* target = at(strip, step.target, i);
    for (Index j = 0; j < strip.cols; j += kLanes) store(target + j, function(load(a + j), load(b + j)));
  }
  return true;
}

// target = function(a, r_i, c_j).
template <class Function>
MERCER_INLINE bool outer(const Step& step, const Strip& strip, Function function) {
  const double *rowwise = strip.rowwise[step.b], *colwise = strip.colwise[step.b];
  for (Index i = 0; i < strip.rows; ++i) {
    const double* a = at(strip, step.a, i);
    double* target = at(strip, step.target, i);
    Vec row = splat(rowwise[i]);
    Index j = 0;
    for (; j + kLanes <= strip.cols; j += kLanes)
      store(target + j, function(load(a + j), row, load(colwise + j)));
    if (j < strip.cols) {  // the vector ends here
      double last[kLanes] = {};
      for (Index c = j; c < strip.cols; ++c) last[c - j] = colwise[c];
      store(target + j, function(load(a + j), row, load(last)));
    }
  }
  return true;
}

// Whether every number passes.
template <class Test>
MERCER_INLINE bool check(const Step& step, const Strip& strip, Test test) {
  Vec failed = {};
  bool passed = true;
  for (Index i = 0; i < strip.rows; ++i) {
    const double* a = at(strip, step.a, i);
    Index j = 0;
    for (; j + kLanes <= strip.cols; j += kLanes) failed = test(load(a + j)) ? failed : splat(1.0);
    for (; j < strip.cols; ++j) passed &= test(a[j]) ? true : false;
  }
  double lanes[kLanes];
  store(lanes, failed);
  for (double lane : lanes) passed &= lane == 0.0;
  return passed;
}

const double* parameters(const Step& step, const Strip& strip) { return strip.parameters + step.first; }

bool fill_constant(const Step& step, const Strip& strip) {
  Vec value = splat(parameters(step, strip)[0]);
  return map(step, strip, [=](Vec) { return value; });
}

bool add(const Step& step, const Strip& strip) {
  return map2(step, strip, [](Vec a, Vec b) { return a + b; });
}

bool multiply(const Step& step, const Strip& strip) {
  return map2(step, strip, [](Vec a, Vec b) { return a * b; });
}

bool divide(const Step& step, const Strip& strip) {
  return map2(step, strip, [](Vec a, Vec b) { return a / b; });
}

bool scale(const Step& step, const Strip& strip) {
  Vec factor = splat(parameters(step, strip)[0]);
  return map(step, strip, [=](Vec a) { return factor * a; });
}

bool shift(const Step& step, const Strip& strip) {
  Vec term = splat(parameters(step, strip)[0]);
  return map(step, strip, [=](Vec a) { return a + term; });
}

bool reciprocal(const Step& step, const Strip& strip) {
  return map(step, strip, [](Vec a) { return 1.0 / a; });
}

// By repeated squaring, as mercer.algebra.products.integer_power has it.
bool integer_power(const Step& step, const Strip& strip) {
  auto exponent = static_cast<Index>(parameters(step, strip)[0]);
  return map(step, strip, [=](Vec square) {
    Vec result = splat(1.0);
    for (Index left = exponent; left > 0; left >>= 1) {
      if (left & 1) result *= square;
      square *= square;
    }
    return result;
  });
}

bool real_power_step(const Step& step, const Strip& strip) {
  double exponent = parameters(step, strip)[0];
  return map(step, strip, [=](Vec a) { return real_power(a, exponent); });
}

bool exp_step(const Step& step, const Strip& strip) {
  return map(step, strip, [](Vec a) { return exponential(a); });
}

bool log1p_step(const Step& step, const Strip& strip) {
  return map(step, strip, [](Vec a) { return logarithm_of_one_plus(a); });
}

bool tanh_step(const Step& step, const Strip& strip) {
  return map(step, strip, [](Vec a) { return hyperbolic_tangent(a); });
}

bool sqrt_step(const Step& step, const Strip& strip) {
  return map(step, strip, [](Vec a) { return square_root(a); });
}

// Coefficients from the constant on.
bool horner(const Step& step, const Strip& strip) {
  const double* coefficients = parameters(step, strip);
  Index count = step.count;
  return map(step, strip, [=](Vec a) {
    Vec sum = splat(coefficients[count - 1]);
    for (Index s = count - 2; s >= 0; --s) sum = muladd(sum, a, splat(coefficients[s]));
    return sum;
  });
}

bool outer_multiply(const Step& step, const Strip& strip) {
  return outer(step, strip, [](Vec a, Vec row, Vec col) { return (row * a) * col; });
}

// factor a + (r_i + c_j)
bool outer_add(const Step& step, const Strip& strip) {
  Vec factor = splat(parameters(step, strip)[0]);
  return outer(step, strip, [=](Vec a, Vec row, Vec col) { return factor * a + (row + col); });
}

bool clip(const Step& step, const Strip& strip) {
  Vec low = splat(parameters(step, strip)[0]), high = splat(parameters(step, strip)[1]);
  return map(step, strip, [=](Vec a) {
    Vec above = a < low ? low : a;  // NaN passes through
    return above > high ? high : above;
  });
}

// The vector, one number per point, onto the diagonal.
bool diagonal(const Step& step, const Strip& strip) {
  map(step, strip, [](Vec a) { return a; });
  if (strip.diagonal < 0) return true;
  for (Index i = 0; i < strip.rows; ++i)
    at(strip, step.target, i)[strip.diagonal + i] = strip.rowwise[step.b][i];
  return true;
}

bool within(const Step& step, const Strip& strip) {
  double low = parameters(step, strip)[0], high = parameters(step, strip)[1];
  return check(step, strip, [=](auto a) { return (a >= low) & (a <= high); });
}

bool nonzero(const Step& step, const Strip& strip) {
  return check(step, strip, [](auto a) { return a != 0.0; });
}

// The number of a table at the place that a whole number says.
bool lookup(const Step& step, const Strip& strip) {
  const double* numbers = parameters(step, strip);
  return map(step, strip, [=](Vec a) { return gather(numbers, a); });
}

}  // namespace

void fill_steps(Table& table) {
  auto enter = [&](StepOp op, StepFunction function) {
    table.steps[static_cast<int>(op) - static_cast<int>(kFillCount)] = function;
  };
  enter(kConstant, fill_constant);
  enter(kAdd, add);
  enter(kMultiply, multiply);
  enter(kDivide, divide);
  enter(kScale, scale);
  enter(kShift, shift);
  enter(kReciprocal, reciprocal);
  enter(kIntegerPower, integer_power);
  enter(kRealPower, real_power_step);
  enter(kExp, exp_step);
  enter(kLog1p, log1p_step);
  enter(kTanh, tanh_step);
  enter(kSqrt, sqrt_step);
  enter(kHorner, horner);
  enter(kOuterMultiply, outer_multiply);
  enter(kOuterAdd, outer_add);
  enter(kClip, clip);
  enter(kDiagonal, diagonal);
  enter(kWithin, within);
  enter(kNonzero, nonzero);
  enter(kLookup, lookup);
}

}  // namespace mercer::MERCER_TILES

# Stubs of the extension module built from native/.  Nothing is validated on the other side: call these
# functions through mercer.engine.

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_Float = TypeVar("_Float", np.float64, np.float32)
_Int = TypeVar("_Int", np.int32, np.int64)

SQEUCLIDEAN: Final[int]
L1: Final[int]
MIN: Final[int]
MAX: Final[int]
CHI2: Final[int]
JENSEN: Final[int]
DOT: Final[int]
ANOVA: Final[int]
ALL_SUBSETS: Final[int]
CAUCHY: Final[int]
OPAQUE: Final[int]
CONSTANT: Final[int]
ADD: Final[int]
MULTIPLY: Final[int]
DIVIDE: Final[int]
SCALE: Final[int]
SHIFT: Final[int]
RECIPROCAL: Final[int]
INTEGER_POWER: Final[int]
REAL_POWER: Final[int]
EXP: Final[int]
LOG1P: Final[int]
TANH: Final[int]
SQRT: Final[int]
HORNER: Final[int]
OUTER_MULTIPLY: Final[int]
OUTER_ADD: Final[int]
CLIP: Final[int]
DIAGONAL: Final[int]
WITHIN: Final[int]
NONZERO: Final[int]
LOOKUP: Final[int]
TILE: Final[int]
BINADES: Final[int]
SEGMENTS_PER_BINADE: Final[int]
DEGREE: Final[int]
MOST_VECTORS: Final[int]
DTW: Final[int]
DIVISIBLE: Final[int]
GAUSSIAN: Final[int]
LOG_DIVISIBLE: Final[int]
LOG_GAUSSIAN: Final[int]

def isa() -> str: ...
def available_isas() -> list[str]: ...
def max_threads() -> int: ...
def set_gemm(dgemm: object, sgemm: object) -> bool: ...
def pairwise(op: int, X: NDArray[_Float], Y: NDArray[_Float], out: NDArray[_Float], threads: int) -> None: ...
def csr_pairwise(
    op: int,
    x_data: NDArray[_Float],
    x_indices: NDArray[_Int],
    x_indptr: NDArray[_Int],
    y_data: NDArray[_Float],
    y_indices: NDArray[_Int],
    y_indptr: NDArray[_Int],
    out: NDArray[_Float],
    threads: int,
) -> None: ...
def anova(
    X: NDArray[_Float],
    Y: NDArray[_Float],
    weights: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    out: NDArray[_Float],
    threads: int,
) -> None: ...
def all_subsets(
    X: NDArray[_Float],
    Y: NDArray[_Float],
    weights: NDArray[np.float64],
    out: NDArray[_Float],
    threads: int,
) -> None: ...
def packed_product(
    tiles: NDArray[np.float64], V: NDArray[np.float64], out: NDArray[np.float64], threads: int
) -> None: ...
def fourier_features(
    X: NDArray[np.float64],
    frequencies: NDArray[np.float64] | None,
    offsets: NDArray[np.float64] | None,
    scale: float,
    out: NDArray[Any],
    threads: int,
) -> None: ...
def add_rows(
    K: NDArray[Any],
    rows: NDArray[np.int64],
    factors: NDArray[np.float64],
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def orthonormalise(vectors: NDArray[np.float64], threads: int, watch: Callable[[], None]) -> None: ...
def plane_distances(
    x: NDArray[np.float64],
    x_own: NDArray[np.float64],
    y: NDArray[np.float64],
    y_own: NDArray[np.float64],
    products: NDArray[np.float64],
    out: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

MOST_STATES: int

def kalman_filter(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    noise: NDArray[np.float64],
    gains: NDArray[np.float64],
    variances: NDArray[np.float64],
    watch: Callable[[], None],
) -> int: ...
def kalman_innovations(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    gains: NDArray[np.float64],
    B: NDArray[np.float64],
    out: NDArray[np.float64],
    watch: Callable[[], None],
) -> None: ...
def kalman_solve(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    gains: NDArray[np.float64],
    variances: NDArray[np.float64],
    B: NDArray[np.float64],
    out: NDArray[np.float64],
    watch: Callable[[], None],
) -> None: ...
def kalman_diagonal(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    gains: NDArray[np.float64],
    variances: NDArray[np.float64],
    out: NDArray[np.float64],
    watch: Callable[[], None],
) -> None: ...
def kalman_variances(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    gains: NDArray[np.float64],
    variances: NDArray[np.float64],
    at: NDArray[np.float64],
    out: NDArray[np.float64],
    watch: Callable[[], None],
) -> None: ...
def kalman_product(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    C: NDArray[np.float64],
    at: NDArray[np.float64],
    out: NDArray[np.float64],
    watch: Callable[[], None],
) -> None: ...
def kalman_slopes(
    kinds: NDArray[np.int64],
    scales: NDArray[np.float64],
    rates: NDArray[np.float64],
    times: NDArray[np.float64],
    noise: NDArray[np.float64],
    Y: NDArray[np.float64],
    products: NDArray[np.float64],
    slopes: NDArray[np.float64],
    determinants: NDArray[np.float64],
    watch: Callable[[], None],
) -> int: ...
def forward_backward(
    start: NDArray[np.float64],
    transitions: NDArray[np.float64],
    emissions: NDArray[np.float64],
    codes: NDArray[np.int32] | None,
    starts: NDArray[np.int64],
    log_likelihoods: NDArray[np.float64],
    first: NDArray[np.float64],
    moves: NDArray[np.float64],
    shown: NDArray[np.float64] | None,
    posteriors: NDArray[np.float64] | None,
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def align_series(
    op: int,
    x: NDArray[np.float64],
    x_starts: NDArray[np.int64],
    x_gauge: NDArray[np.float64],
    y: NDArray[np.float64],
    y_starts: NDArray[np.int64],
    y_gauge: NDArray[np.float64],
    scale: float,
    band: int,
    symmetric: bool,
    out: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def gauge_series(
    op: int,
    x: NDArray[np.float64],
    starts: NDArray[np.int64],
    scale: float,
    band: int,
    out: NDArray[np.float64],
    norms: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

_Codes = NDArray[np.int32]
_Indices = NDArray[np.int64]
_Numbers = NDArray[np.float64]
_Runs = tuple[NDArray[Any], ...]  # codes, begins, counts, first

_Arcs = tuple[NDArray[Any], ...]  # starts, ends, codes of labels
_Keys = tuple[_Indices, _Indices]  # words, starts

def transpose_arcs(arcs: _Arcs, starts: _Indices, ends: _Indices, codes: _Codes) -> bool: ...
def refine_colours(
    out: _Arcs,
    into: _Arcs | None,
    colours: _Codes,
    known: _Keys,
    refined: _Codes,
    watch: Callable[[], None],
) -> _Keys: ...
def window_keys(runs: _Runs, offsets: _Indices, base: int, keys: _Indices) -> None: ...
def count_keys(
    keys: _Indices, starts: _Indices, width: int, counts: _Numbers, ends: _Indices, threads: int
) -> int: ...
def sum_keys(keys: _Indices, starts: _Indices, counts: _Numbers, ends: _Indices, threads: int) -> int: ...
def sparse_product(
    X: tuple[NDArray[Any], ...], Y: tuple[NDArray[Any], ...], symmetric: bool, width: int, out: _Numbers
) -> None: ...
def count_agreements(
    X: _Runs, Y: _Runs, symmetric: bool, offsets: _Indices, base: int, out: _Numbers, threads: int
) -> None: ...
def sum_over_agreements(
    X: _Runs, Y: _Runs, symmetric: bool, length: int, base: int, values: _Numbers, out: _Numbers, threads: int
) -> None: ...
def sum_over_neighbours(
    X: tuple[_Codes, _Indices],
    Y: tuple[_Codes, _Indices],
    symmetric: bool,
    first: int,
    last: int,
    masks: _Codes,
    values: _Numbers,
    cells: int,
    out: _Numbers,
    threads: int,
) -> None: ...
def gappy_features(
    codes: _Codes, starts: _Indices, n: int, base: int, decay: float, out: _Numbers, threads: int
) -> None: ...
def gappy_values(
    x_codes: _Codes,
    x_starts: _Indices,
    x_rows: _Indices,
    y_codes: _Codes,
    y_starts: _Indices,
    y_rows: _Indices,
    n: int,
    decay: float,
    out: _Numbers,
    threads: int,
) -> None: ...
def gappy_steps(x: _Codes, first: int, last: int, y: _Codes, decay: float, ends: _Numbers) -> float: ...

_Graphs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]  # node_starts, arc_starts, targets

def count_paths(
    graphs: _Graphs,
    classes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    threads: int,
    watch: Callable[[], object],
) -> tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]
]: ...
def count_patterns(
    graphs: _Graphs, four: bool, counts: NDArray[np.int64], threads: int, watch: Callable[[], object]
) -> None: ...
def count_connected(
    graphs: _Graphs,
    size: int,
    types: NDArray[np.int32],
    at_nodes: bool,
    counts: NDArray[np.int64],
    threads: int,
    watch: Callable[[], object],
) -> None: ...
def count_sets(
    graphs: _Graphs,
    graph: int,
    sets: NDArray[np.int32],
    types: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None: ...

_Sequences = tuple[NDArray[Any], ...]  # codes and starts of X and of Y, rows, columns

def subsequences(
    pairs: _Sequences,
    n: int,
    decay: float,
    sums: NDArray[np.float64],
    exponents: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def local_alignments(
    pairs: _Sequences,
    weights: NDArray[np.float64],
    equal: float,
    other: float,
    open: float,
    extend: float,
    sums: NDArray[np.float64],
    exponents: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def edits(
    pairs: _Sequences,
    gap: float,
    substitute: float,
    costs: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

CHEBYSHEV_COLUMNS: int

def chebyshev(
    starts: _Indices,
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    center: float,
    radius: float,
    current: NDArray[np.float64],
    previous: NDArray[np.float64],
    sum: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def weighted_degree(
    pairs: _Sequences,
    gains: NDArray[np.float64],
    shifts: NDArray[np.float64],
    values: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

_Forest = tuple[NDArray[Any], ...]  # starts, keys, order, counts, child_starts, children

def tree_pairs(
    X: _Forest,
    Y: _Forest,
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    partial: bool,
    decay: float,
    gap_decay: float,
    most: int,
    sums: NDArray[np.float64],
    exponents: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

class Program:
    def __init__(
        self,
        steps: NDArray[np.int64],
        parameters: NDArray[np.float64],
        points: list[Any],  # mercer.engine.points.Points
        vectors: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
        opaque: list[NDArray[np.float64]],
        rows: int,
        cols: int,
        registers: int,
        symmetric: bool,
        edge: int,
        cost: float,
        to_single: bool,
    ) -> None: ...
    @property
    def tiles(self) -> int: ...
    def dense(
        self,
        first: int,
        last: int,
        out: NDArray[_Float],
        threads: int,
        slots: NDArray[np.int64] | None = None,
    ) -> int: ...
    def packed(self, first: int, last: int, tiles: NDArray[np.float64], threads: int) -> int: ...
    def product(
        self,
        lanes: list[int],
        parts: int,
        half: bool,
        first: int,
        last: int,
        V: NDArray[np.float64],
        sums: NDArray[np.float64],
        threads: int,
    ) -> int: ...

CONVERGED: Final[int]
LIMIT: Final[int]
STOPPED: Final[int]
UNBOUNDED: Final[int]
STALLED: Final[int]
NOT_FINITE: Final[int]
SUM: Final[int]
SIGNED: Final[int]
FREE: Final[int]
SET_SIZE: Final[int]

def fill_reduced(
    x: NDArray[np.float32],
    a: NDArray[np.float32],
    y: NDArray[np.float32],
    b: NDArray[np.float32],
    coefficients: NDArray[np.float32],
    slots: NDArray[np.int64],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...

_Optimality = tuple[float, tuple[float, float], float, float]

def optimality(
    linear: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    epsilon: float,
    constraint: int,
    beta: NDArray[np.float64],
    grad: NDArray[np.float64],
) -> _Optimality: ...

class _Smo(Generic[_Float]):
    threads: int
    def __init__(
        self,
        linear: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        diagonal: NDArray[np.float64],
        epsilon: float,
        constraint: int,
        rows: NDArray[_Float],
        complete: bool,
        beta: NDArray[np.float64],
        grad: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def run(
        self,
        tolerance: float,
        iterations: int,
        fetch: Callable[[list[int], list[int]], None],
        watch: Callable[[int, float], bool],
    ) -> int: ...
    def restart(self, beta: NDArray[np.float64], grad: NDArray[np.float64]) -> None: ...
    def set_bounds(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> None: ...
    def recompute(self) -> float: ...
    def optimality(self) -> _Optimality: ...
    @property
    def violation(self) -> float: ...
    @property
    def beta(self) -> NDArray[np.float64]: ...
    @property
    def grad(self) -> NDArray[np.float64]: ...
    @property
    def iterations(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def hits(self) -> int: ...
    @property
    def misses(self) -> int: ...

class Smo32(_Smo[np.float32]): ...
class Smo64(_Smo[np.float64]): ...

def coordinate_descent(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[_Float],
    linear: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    epsilon: float,
    constraint: int,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    multiplier: float,
    tolerance: float,
    visits: int,
    seed: int,
    watch: Callable[[int, float], bool],
) -> tuple[int, int, float]: ...
def coordinate_descent_dense(
    rows: NDArray[_Float],
    linear: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    epsilon: float,
    constraint: int,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    multiplier: float,
    tolerance: float,
    visits: int,
    seed: int,
    watch: Callable[[int, float], bool],
) -> tuple[int, int, float]: ...

class _Pairs(Generic[_Float]):
    def __init__(
        self,
        blocks: list[tuple[object, object, object]],
        linear: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        epsilon: float,
        constraint: int,
        beta: NDArray[np.float64],
        grad: NDArray[np.float64],
    ) -> None: ...
    def work(
        self,
        buffer: NDArray[_Float],
        goal: float,
        tolerance: float,
        iterations: int,
        watch: Callable[[int, float], bool],
    ) -> None: ...
    def stop(self) -> None: ...
    def results(self) -> list[tuple[int, int, int, float, tuple[float, float], float, float, float]]: ...
    @property
    def buffer_size(self) -> int: ...

class Pairs32(_Pairs[np.float32]): ...
class Pairs64(_Pairs[np.float64]): ...

LARGEST_COMPONENT: Final[int]

_Arrays = tuple[NDArray[Any], ...]
_Strings = tuple[NDArray[np.int32], NDArray[np.int64]]

def automata_sort(
    n_states: int,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    input: NDArray[np.int32],
    output: NDArray[np.int32],
    weight: NDArray[np.float64],
) -> _Arrays: ...

# What goes wrong in a machine comes back as a tuple that begins with a str.
def automata_compose(
    machines: list[_Arrays], exclusions: _Arrays, semiring: int, connect: bool, look: Callable[[], None]
) -> tuple[Any, ...]: ...
def automata_trim(machine: _Arrays, zero: float) -> _Arrays: ...
def automata_is_acyclic(machine: _Arrays, semiring: int) -> bool: ...
def automata_total_weight(
    machine: _Arrays, semiring: int, look: Callable[[], None]
) -> float | tuple[Any, ...]: ...
def automata_remove_epsilons(
    machine: _Arrays, semiring: int, look: Callable[[], None]
) -> tuple[Any, ...]: ...
def automata_string_weights(
    machine: _Arrays,
    exclusions: _Arrays,
    semiring: int,
    x: _Strings,
    y: _Strings,
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
    look: Callable[[], None],
) -> tuple[Any, ...] | None: ...
def automata_outputs(
    machine: _Arrays, exclusions: _Arrays, semiring: int, x: _Strings, threads: int, look: Callable[[], None]
) -> tuple[Any, ...]: ...
def automata_prepare(
    automata: list[_Arrays], semiring: int, threads: int, look: Callable[[], None]
) -> tuple[Any, ...]: ...
def automata_intersect_weights(
    a: _Arrays,
    b: _Arrays,
    semiring: int,
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
    look: Callable[[], None],
) -> tuple[Any, ...] | None: ...
def outputs_inner_products(
    x: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    rows: NDArray[np.int64],
    y: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    cols: NDArray[np.int64],
    table: NDArray[np.int32],
    width: int,
    out: NDArray[np.float64],
    threads: int,
    look: Callable[[], None],
) -> None: ...

class Outputs:
    def __init__(
        self, machine: tuple[NDArray[Any], ...], exclusions: tuple[NDArray[np.int32], NDArray[np.int64]]
    ) -> None: ...
    def read(
        self, codes: NDArray[np.int32], starts: NDArray[np.int64], limit: int, look: Callable[[], None]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]] | None: ...
    def tree(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    @property
    def steps(self) -> int: ...

class FactorWeights:
    def __init__(
        self,
        shortest: int,
        longer: int,
        powers: NDArray[np.float64],
        sums: NDArray[np.float64],
        longer_powers: NDArray[np.float64],
        longer_sums: NDArray[np.float64],
        empty: float,
        excluded_codes: NDArray[np.int32],
        excluded_starts: NDArray[np.int64],
    ) -> None: ...

def factors(
    weights: FactorWeights,
    counted: bool,
    x: NDArray[np.int32],
    x_starts: NDArray[np.int64],
    y: NDArray[np.int32],
    y_starts: NDArray[np.int64],
    limit: int,
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def factors_diagonal(
    weights: FactorWeights,
    counted: bool,
    x: NDArray[np.int32],
    x_starts: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def log_rising(b: float, r: float) -> float: ...

class ContextForest:
    def __init__(
        self, depth: int, boundary: bool, letters: int, sigma: float, split: float, prior: float
    ) -> None: ...
    def plant(self, codes: NDArray[np.int32], starts: NDArray[np.int64], threads: int) -> None: ...
    @property
    def nodes(self) -> int: ...
    def block(
        self,
        rows: NDArray[np.int64],
        other: ContextForest,
        columns: NDArray[np.int64],
        limit: int,
        out: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def diagonal(self, rows: NDArray[np.int64], out: NDArray[np.float64], threads: int) -> None: ...

WALKS_SOLVED: Final[int]
WALKS_TRUNCATED: Final[int]
WALKS_EXPONENTIAL: Final[int]

def walk_sums(
    x: tuple[Any, ...],
    y: tuple[Any, ...],
    nodes: NDArray[np.float64],
    arcs: NDArray[np.float64],
    series: int,
    ratios: NDArray[np.float64],
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    out: NDArray[np.float64],
    status: NDArray[np.int32],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def spectral_walk_sums(
    x: tuple[NDArray[Any], ...],
    y: tuple[NDArray[Any], ...],
    series: int,
    ratios: NDArray[np.float64],
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...
def tree_walk_sums(
    x: tuple[Any, ...],
    y: tuple[Any, ...],
    nodes: NDArray[np.float64],
    arcs: NDArray[np.float64],
    depth: int,
    arity: int,
    decay: float,
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
    watch: Callable[[], None],
) -> None: ...

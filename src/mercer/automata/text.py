"""Machines as text, in the format of AT&T's tools that OpenFst's ``fstcompile`` and ``fstprint`` exchange.

A line is an arc, ``source target input output weight``, or a final state, ``state weight``; a weight of one
is left out.  The first state to appear is the initial one.  Weights are those of the semiring: for OpenFst's
own arcs bring a machine to ``"tropical"`` or ``"log"`` first, with ``T.in_semiring("log")``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import InputError, ParameterError
from .labels import EPSILON, AnyExcept
from .semirings import Semiring, semiring_of
from .transducer import Arc, Transducer

__all__ = ["from_att", "from_symbol_table", "numbering", "to_att", "to_symbol_table"]


def to_att(
    T: Transducer,
    *,
    numbers: Mapping[Any, int] | None = None,
    acceptor: bool = False,
    epsilon: str = "<eps>",
) -> str:
    r"""Write a machine in AT&T text format.

    Several initial states, or one with a weight other than one, get a new initial state that leads to them.

    Parameters
    ----------
    T : Transducer
        Without classes of symbols, which the format does not know: see :meth:`Transducer.over`.
    numbers : mapping of symbols to int, optional
        Write these numbers instead of symbols, and 0 for epsilon; :func:`numbering` makes one.  Needed for
        symbols that are no text, or text with white space.
    acceptor : bool, default=False
        Write one label per arc, that of an automaton.
    epsilon : str, default="<eps>"
        How epsilon is written.

    Examples
    --------
    >>> from mercer.automata import string, to_att
    >>> print(to_att(string("ab", weight=0.5)))
    3	0	<eps>	<eps>	0.5
    0	1	a	a
    1	2	b	b
    2
    """
    if acceptor and not T.is_automaton:
        raise ParameterError("to_att: `acceptor=True` needs equal labels on both tapes. Got a transducer.")
    one = T.semiring.one
    initial = dict(T.initial)
    arcs = list(T.arcs)
    if list(initial.values()) != [one]:
        arcs = [Arc(T.n_states, q, EPSILON, EPSILON, w) for q, w in initial.items()] + arcs
        first = T.n_states
    else:
        (first,) = initial
    if first not in {arc.source for arc in arcs} | set(T.final):
        return ""  # no path leaves the initial state: the file is empty
    names = {label: _name(label, numbers, epsilon) for arc in arcs for label in arc[2:4]}
    # The initial state comes first, be it as the source of arcs or as a final state.
    arcs.sort(key=lambda arc: arc.source != first)
    lines = [(q, *([] if w == one else [w])) for q, w in T.final.items()]
    written: list[tuple[Any, ...]] = []
    for source, target, read, out, weight in arcs:
        labels = [names[read]] if acceptor else [names[read], names[out]]
        written.append((source, target, *labels, *([] if weight == one else [weight])))
    ends_first = not any(arc.source == first for arc in arcs)
    ordered = sorted(lines, key=lambda line: line[0] != first)
    rows = [*ordered, *written] if ends_first else [*written, *ordered]
    return "\n".join("\t".join(map(_field, row)) for row in rows)


def from_att(
    text: str,
    *,
    symbols: Mapping[int, Hashable] | None = None,
    acceptor: bool = False,
    epsilon: str = "<eps>",
    semiring: Semiring | str = "real",
) -> Transducer:
    r"""Read a machine in AT&T text format.

    Parameters
    ----------
    text : str
        Arcs and final states, one per line; the first state to appear is the initial one.
    symbols : mapping of int to symbols, optional
        What the numbers on the arcs stand for, 0 being epsilon: see :func:`from_symbol_table`.  By default
        labels are symbols as they are written.
    acceptor : bool, default=False
        Arcs have one label only.
    epsilon : str, default="<eps>"
        How epsilon is written.
    semiring : {"real", "log", "tropical", "boolean"} or Semiring, default="real"
        What the weights are; one that is left out is the semiring's one.

    Raises
    ------
    InputError
        If a line is neither an arc nor a final state, with its number.

    Examples
    --------
    >>> from mercer.automata import from_att
    >>> from_att("0 1 a b 0.5\n1 3")("a", "b")
    1.5
    """
    ring = semiring_of(semiring, "from_att")
    if not isinstance(text, str):
        raise InputError(f"from_att: `text` must be the text itself. Got {type(text).__name__}.")
    arcs: list[Arc] = []
    final: dict[int, Any] = {}
    initial: dict[int, Any] = {}
    labels = 1 if acceptor else 2
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            state = _state(fields[0])
            initial = initial or {state: ring.one}
            if len(fields) <= 2:
                weight = _weight(fields[1:], ring)
                final[state] = ring.plus(final[state], weight) if state in final else weight
            elif 2 + labels <= len(fields) <= 3 + labels:
                read, out = (_label(f, symbols, epsilon) for f in (fields[2], fields[1 + labels]))
                arcs.append(Arc(state, _state(fields[1]), read, out, _weight(fields[2 + labels :], ring)))
            else:
                raise ValueError(f"an arc with {labels} labels has {2 + labels} or {3 + labels} fields")
        except (ValueError, KeyError) as error:
            raise InputError(
                f"from_att: line {number} is no arc or final state. Got {line!r}: {str(error).rstrip('.')}."
            ) from error
    return Transducer(arcs, initial, final, semiring=ring)


def numbering(*machines: Transducer) -> dict[Any, int]:
    """Number the symbols of machines from 1 on; 0 is left for epsilon.

    Examples
    --------
    >>> from mercer.automata import numbering, string
    >>> numbering(string("ab"), string("bc"))
    {'a': 1, 'b': 2, 'c': 3}
    """
    symbols = dict.fromkeys(symbol for machine in machines for symbol in machine.alphabet)
    return {symbol: i for i, symbol in enumerate(symbols, 1)}


def to_symbol_table(numbers: Mapping[Any, int], *, epsilon: str = "<eps>") -> str:
    """Write numbered symbols as a symbol table of OpenFst: ``symbol number``, line by line.

    Examples
    --------
    >>> print(to_symbol_table({"a": 1}))
    <eps>	0
    a	1
    """
    rows = [(epsilon, 0), *((_name(symbol, None, epsilon), number) for symbol, number in numbers.items())]
    return "\n".join(f"{name}\t{number}" for name, number in rows)


def from_symbol_table(text: str) -> dict[int, str]:
    r"""Read a symbol table of OpenFst: symbols by their numbers; number 0, epsilon, is left out.

    Examples
    --------
    >>> from_symbol_table("<eps> 0\na 1")
    {1: 'a'}
    """
    found: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not fields[1].isdecimal():
            raise InputError(
                f"from_symbol_table: line {number} must be a symbol and its number. Got {line!r}."
            )
        if int(fields[1]) != 0:
            found[int(fields[1])] = fields[0]
    return found


def _name(label: Any, numbers: Mapping[Any, int] | None, epsilon: str) -> str:
    if isinstance(label, AnyExcept):
        raise ParameterError(
            f"to_att: the format has no classes of symbols. Got {label!r}; T.over(alphabet) writes them as "
            "one arc per symbol."
        )
    if numbers is not None:
        if label is not EPSILON and label not in numbers:
            raise ParameterError(
                f"to_att: `numbers` must have a number for every symbol. Got none for {label!r}."
            )
        return "0" if label is EPSILON else str(numbers[label])
    if label is EPSILON:
        return epsilon
    if not isinstance(label, str) or len(label.split()) != 1 or label != label.strip() or label == epsilon:
        raise ParameterError(
            f"to_att: a symbol must be text without white space, other than {epsilon!r}. Got {label!r}; "
            "write numbers instead, as in to_att(T, numbers=numbering(T))."
        )
    return label


def _field(value: Any) -> str:
    if isinstance(value, float | bool):
        return repr(float(value)).removesuffix(".0")
    if not isinstance(value, int | str):
        raise ParameterError(
            f"to_att: a weight must be a number of the format. Got {value!r}; T.in_semiring(ring, by=float) "
            "makes weights of another type floats."
        )
    return str(value)


def _state(field: str) -> int:
    if not field.isdecimal():
        raise ValueError(f"{field!r} is not the number of a state")
    return int(field)


def _weight(fields: list[str], ring: Semiring) -> Any:
    if len(fields) > 1:
        raise ValueError("there are too many fields")
    return ring.weight(float(fields[0]), "from_att") if fields else ring.one


def _label(field: str, symbols: Mapping[int, Hashable] | None, epsilon: str) -> Any:
    if symbols is None:
        return EPSILON if field == epsilon else field
    number = _state(field)
    if number and number not in symbols:
        raise KeyError(f"the number {number} is not in `symbols`")
    return symbols[number] if number else EPSILON

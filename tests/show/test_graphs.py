"""Pictures of graphs."""

import networkx as nx
import numpy as np
import pytest

from mercer.contributions import Contribution, Contributions
from mercer.domains import Graph
from mercer.errors import InputError, ParameterError
from mercer.graphs import layout
from mercer.show import canvas, graph
from mercer.show.canvas import COLOURS

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, FancyArrowPatch

PATH = Graph(3, [(0, 1), (1, 2)], labels="CCO")


@pytest.fixture
def ax():
    return canvas()[1]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def nodes(ax):
    """Sign and strength of the colour of each node."""
    signs = {COLOURS["blue"]: 1, COLOURS["vermilion"]: -1}
    found = [circle for circle in ax.patches if isinstance(circle, Circle) and circle.fill]
    return [signs.get(to_hex(c.get_facecolor()[:3]), 0) * c.get_facecolor()[3] for c in found]


# -- layout ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [2, 3, 8])
def test_a_path_is_a_line_across(n):
    places = layout(Graph(n, [(i, i + 1) for i in range(n - 1)]))
    steps = np.diff(places, axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), 1.0, atol=0.05)
    np.testing.assert_allclose(steps[:, 1], 0.0, atol=0.15)


def test_a_ring_is_a_circle_and_a_grid_a_grid():
    ring = layout(Graph(6, [(i, (i + 1) % 6) for i in range(6)]))
    radii = np.linalg.norm(ring - ring.mean(axis=0), axis=1)
    assert np.ptp(radii) < 0.05 * radii.mean()
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 6))
    places = layout(Graph(24, list(grid.edges)))
    lengths = [np.linalg.norm(places[u] - places[v]) for u, v in grid.edges]
    assert max(lengths) < 1.3 * min(lengths)


def test_nodes_of_equal_distances_stand_apart():
    star = layout(Graph(9, [(0, i) for i in range(1, 9)]))
    apart = np.linalg.norm(star[:, None] - star[None], axis=2)[~np.eye(9, dtype=bool)]
    assert apart.min() > 0.4


def test_components_do_not_overlap():
    places = layout(Graph(12, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)]))
    parts = [range(3), range(3, 6), *([i] for i in range(6, 12))]
    for i, one in enumerate(parts):
        for other in parts[i + 1 :]:
            a, b = places[list(one)], places[list(other)]
            assert (a.min(axis=0) >= b.max(axis=0)).any() or (b.min(axis=0) >= a.max(axis=0)).any()


def test_one_graph_has_one_picture():
    g = nx.gnp_random_graph(30, 0.1, seed=1)
    first = Graph(30, list(g.edges))
    np.testing.assert_array_equal(layout(first), layout(Graph(30, list(g.edges)[::-1])))
    assert layout(Graph(0)).shape == (0, 2)
    with pytest.raises(InputError, match=r"at most 3000 nodes.* It has 3001"):
        layout(Graph(3001))


# -- pictures ----------------------------------------------------------------------------------------------
def test_nodes_carry_labels_or_numbers(ax):
    assert texts(graph(PATH, ax=ax)) == ["C", "C", "O"]
    assert texts(graph(nx.path_graph(2), ax=canvas()[1])) == ["0", "1"]
    assert texts(graph(nx.path_graph(200), ax=canvas()[1])) == []


def test_edges_carry_labels_where_they_differ(ax):
    bonds = Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels=["single", "double"])
    assert texts(graph(bonds, ax=ax)) == ["C", "C", "O", "single", "double"]
    assert len(texts(graph(Graph(3, [(0, 1), (1, 2)], edge_labels=[1, 1]), ax=canvas()[1]))) == 3


def test_each_node_has_the_colour_of_what_it_adds(ax):
    found = Contributions(
        [
            Contribution("C", 4.0, ((0, 1), (1, 2)), ((0, 1),)),
            Contribution("CO", -1.0, ((1, 2), (2, 3))),
            Contribution("bias", 0.5),
        ]
    )
    graph(PATH, found, ax)
    strengths = np.array(nodes(ax))
    np.testing.assert_allclose(strengths / strengths.max(), [1.0, 0.75, -0.25], rtol=1e-6)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "adds, up to 2 per node",
        "takes away, up to 0.5 per node",
        "without a place: 'bias', +0.5",
    ]
    other = canvas()[1]
    graph((1, []), found, other, side="y")
    assert nodes(other) == pytest.approx([0.65])


def test_nodes_have_the_colours_of_their_classes(ax):
    graph(PATH, classes=["l", "c", "l"], ax=ax)
    faces = [c.get_facecolor() for c in ax.patches]
    assert faces[0] == faces[2] != faces[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["l", "c"]


def test_arcs_are_arrows_and_parallel_edges_bend(ax):
    graph(nx.DiGraph([(0, 1), (1, 2)]), ax=ax)
    assert sum(isinstance(p, FancyArrowPatch) for p in ax.patches) == 2
    other = canvas()[1]
    graph(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)]), ax=other)
    assert sum(isinstance(p, FancyArrowPatch) for p in other.patches) == 2
    assert len(other.collections[0].get_segments()) == 1
    assert sum(isinstance(p, Circle) and not p.fill for p in other.patches) == 1


def test_heavier_edges_are_wider(ax):
    graph(Graph(3, [(0, 1), (1, 2)], weights=[1, 4]), ax=ax)
    thin, wide = ax.collections[0].get_linewidths()
    assert wide > 1.5 * thin


def test_own_places(ax):
    places = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0]])
    graph(PATH, ax=ax, places=places)
    centres = np.array([c.center for c in ax.patches])
    np.testing.assert_allclose(centres, places / 10)


@pytest.mark.parametrize("x", [(0, []), (1, []), (5, []), nx.complete_graph(12)])
def test_any_graph_makes_a_figure(x, tmp_path):
    graph(x).figure.savefig(tmp_path / "graph.png")


def test_errors_name_the_argument():
    found = Contributions([Contribution("C", 1.0, ((3, 4),))])
    with pytest.raises(InputError, match=r"graph: `contributions` must be those of `x`.*has 3 nodes"):
        graph(PATH, found)
    with pytest.raises(InputError, match="graph: `contributions` must come from"):
        graph(PATH, [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="graph: `side`"):
        graph(PATH, found, side="z")
    with pytest.raises(ParameterError, match="by `contributions` or by `classes`"):
        graph(PATH, Contributions([]), classes="abc")
    with pytest.raises(InputError, match=r"a class for each of 3 nodes. Got 2"):
        graph(PATH, classes="ab")
    with pytest.raises(InputError, match=r"`places` must be finite, of shape \(3, 2\). Got \(2, 2\)"):
        graph(PATH, places=np.zeros((2, 2)))
    with pytest.raises(InputError, match="x must be a graph"):
        graph("CCO")

"""Trees in frames, stores, pickles and machines."""

import pickle

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.kernels import Gaussian, PartialTree, SubsetTree, SubTree
from mercer.machines import SVC

FORMS = ["(S (NP a) (VP b))", ("S", ("NP", "a")), "(S (VP (V b) (NP a)))", "(VP b)", "(VP (V b))", "(NP a)"]
KERNELS = [SubTree(0.5), SubsetTree(0.5), PartialTree(0.5, 0.5)]


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_columns_of_trees(k):
    frame = pd.DataFrame({"tree": pd.Series(FORMS, dtype=object), "length": np.arange(6.0)})
    both = mercer.columns({"tree": k, "length": Gaussian(2.0)})
    expected = k.block(FORMS) + Gaussian(2.0).block(np.arange(6.0)[:, None])
    np.testing.assert_allclose(both.block(frame), expected, rtol=1e-14)


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_stores_and_pickles(k, tmp_path):
    store = mercer.GramStore(tmp_path / "store")
    K = mercer.gram(k, FORMS, store=store).dense()
    np.testing.assert_array_equal(mercer.gram(k, FORMS, store=store).dense(), K)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mercer.gram(k, FORMS))).dense(), K)
    y = [0, 0, 1, 1, 1, 0]
    machine = SVC(k.normalized(), C=5.0).fit(FORMS, y)
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.decision_function(FORMS), machine.decision_function(FORMS))

"""Callbacks where scikit-learn has none of its own, as before 1.9."""

import subprocess
import sys

CODE = """
import importlib.abc, sys, warnings

class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "sklearn.callback" and "mercer.machines.callbacks" in sys.modules and not done:
            done.append(name)
            raise ModuleNotFoundError(name)

done = []
sys.meta_path.insert(0, Without())
import mercer.machines.callbacks
assert done, "there was no need for it"
import numpy as np
from sklearn.base import clone
from mercer.machines import SVC, KernelRidge

seen = []

class Recorder:
    def setup(self, estimator, context):
        seen.append("setup")

    def teardown(self, estimator, context):
        seen.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        seen.append(("begin", context.task_name, context.parent is None, X is None))

    def on_fit_task_end(self, estimator, context):
        seen.append(("end", context.task_name, context.task_id))
        return stop

stop = False
X = np.random.default_rng(0).standard_normal((80, 3))
y = X[:, 0] > 0
model = clone(SVC().set_callbacks(Recorder(), lambda progress: seen.append("plain"))).fit(X, y)
assert model.converged_
assert seen[:2] == ["setup", ("begin", "fit", True, False)], seen
assert seen[-2:] == [("end", "fit", 0), "teardown"], seen
assert "plain" in seen and ("begin", "SVC", False, True) in seen, seen
stop = True
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    SVC().set_callbacks(Recorder()).fit(X, y)
assert "a callback asked to stop" in str(caught[-1].message)
KernelRidge().fit(X, y)
KernelRidge().set_callbacks().fit(X, y)
print("done")
"""


def test_callbacks_without_those_of_scikit_learn():
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=300)
    assert ended.stdout == "done\n", ended.stderr

"""Random support vector problems, and how good a solution of one is, computed from the matrix alone."""

from dataclasses import dataclass

import numpy as np
import sklearn.svm

from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from mercer.machines import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from ..solvers.svm.interior import least_objective

MACHINES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]
KERNELS = ["gaussian", "polynomial", "linear", "laplacian", "precomputed"]


@dataclass
class Trial:
    """One random problem: data, weights, parameters."""

    machine: str
    kernel: object
    X: np.ndarray
    K: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    C: float
    nu: float
    epsilon: float
    class_weight: dict | None

    def __repr__(self):
        return (
            f"{self.machine}, {self.kernel}, n={len(self.X)}, C={self.C:.3g}, nu={self.nu:.3g}, "
            f"epsilon={self.epsilon:.3g}, class_weight={self.class_weight}"
        )

    @property
    def bounds(self):
        """The bound of each |b_i|."""
        factor = np.ones(len(self.y))
        if self.class_weight is not None:
            factor = np.where(self.y > 0, self.class_weight[1], self.class_weight[-1])
        return self.weight * factor * (self.C if self.machine in ("SVC", "SVR", "NuSVR") else 1.0)

    # -- machines -------------------------------------------------------------------------------
    def ours(self, tol=1e-9):
        parameters = {"kernel": self.kernel, "tol": tol}
        model = {
            "SVC": lambda: SVC(C=self.C, class_weight=self.class_weight, **parameters),
            "NuSVC": lambda: NuSVC(nu=self.nu, class_weight=self.class_weight, **parameters),
            "SVR": lambda: SVR(C=self.C, epsilon=self.epsilon, **parameters),
            "NuSVR": lambda: NuSVR(nu=self.nu, C=self.C, **parameters),
            "OneClassSVM": lambda: OneClassSVM(nu=self.nu, **parameters),
        }[self.machine]()
        X = self.K if isinstance(self.kernel, Precomputed) else self.X
        return model.fit(X, self.y, sample_weight=self.weight)

    def theirs(self, tol=1e-9, max_iter=100_000):
        parameters = {"kernel": "precomputed", "tol": tol, "max_iter": max_iter}
        model = {
            "SVC": lambda: sklearn.svm.SVC(C=self.C, class_weight=self.class_weight, **parameters),
            "NuSVC": lambda: sklearn.svm.NuSVC(nu=self.nu, **parameters),
            "SVR": lambda: sklearn.svm.SVR(C=self.C, epsilon=self.epsilon, **parameters),
            "NuSVR": lambda: sklearn.svm.NuSVR(nu=self.nu, C=self.C, **parameters),
            "OneClassSVM": lambda: sklearn.svm.OneClassSVM(nu=self.nu, **parameters),
        }[self.machine]()
        # LIBSVM's NuSVC knows weights of samples, but leaves those of classes out.
        weight = self.bounds if self.machine == "NuSVC" else self.weight
        return model.fit(self.K, self.y, sample_weight=weight)

    # -- quality --------------------------------------------------------------------------------
    def coefficients(self, model):
        """All b_i; those of NuSVC as they were before the division by the margin."""
        b = np.zeros(len(self.y))
        b[model.support_] = model.dual_coef_[0]
        if self.machine == "NuSVC":
            b *= self.nu * self.bounds.sum() / np.abs(b).sum()
        return b

    def objective(self, b):
        """The dual objective, to be minimised."""
        quadratic = 0.5 * float(b @ self.K @ b)
        if self.machine == "SVC":
            return quadratic - float(np.abs(b).sum())
        if self.machine == "SVR":
            return quadratic - float(self.y @ b) + self.epsilon * float(np.abs(b).sum())
        return quadratic - float(self.y @ b) if self.machine == "NuSVR" else quadratic

    def infeasibility(self, b):
        """By how much a solution leaves the constraints, relative to their size."""
        c = self.bounds
        low = -c if self.machine in ("SVR", "NuSVR") else np.where(self.y > 0, 0.0, -c)
        high = c if self.machine in ("SVR", "NuSVR") else np.where(self.y > 0, c, 0.0)
        if self.machine == "OneClassSVM":
            low, high = np.zeros_like(c), c
        outside = max(float((low - b).max()), float((b - high).max())) / float(c.max())
        total = self.nu * c.sum() if self.machine == "OneClassSVM" else 0.0
        unbalanced = abs(float(b.sum()) - total) / max(float(np.abs(b).sum()), float(c.max()))
        beyond = 0.0
        if self.machine == "NuSVR":
            beyond = float(np.abs(b).sum()) / (self.nu * c.sum()) - 1
        return max(outside, unbalanced, beyond, 0.0)

    def least(self):
        """The least dual objective, by an interior-point method."""
        c, zeros = self.bounds, np.zeros(len(self.y))
        one_sided = np.where(self.y > 0, 0.0, -c), np.where(self.y > 0, c, 0.0)
        if self.machine == "SVC":
            return least_objective(self.K, -self.y, *one_sided, sums=(0.0,))
        if self.machine == "SVR":
            return least_objective(self.K, -self.y, -c, c, self.epsilon, sums=(0.0,))
        half = self.nu * float(c.sum()) / 2
        if self.machine == "NuSVC":
            return least_objective(self.K, zeros, *one_sided, sums=(half, -half))
        if self.machine == "NuSVR":
            return least_objective(self.K, -self.y, -c, c, sums=(0.0,), most_in_all=2 * half)
        return least_objective(self.K, zeros, zeros, c, sums=(2 * half,))


def draw(seed, most=300):
    """A random problem: of any machine and kernel, sometimes imbalanced, weighted or with repeated points."""
    rng = np.random.default_rng(seed)
    machine, kind = MACHINES[seed % 5], KERNELS[seed // 5 % 5]
    n, d = int(np.exp(rng.uniform(np.log(5), np.log(most)))), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:  # repeated points, also with other labels
        X = X[rng.integers(0, max(2, n // 2), n)]
    share = rng.choice([0.5, 0.5, 0.2])
    signal = X[:, 0] + rng.choice([0.1, 1.0]) * rng.standard_normal(n)
    if machine in ("SVC", "NuSVC"):
        y = np.where(signal > np.quantile(signal, 1 - share), 1.0, -1.0)
        y[0], y[1] = 1.0, -1.0
    else:
        y = np.ones(n) if machine == "OneClassSVM" else np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)
    weight = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.1, 3.0, n)
    class_weight = None
    if machine in ("SVC", "NuSVC") and rng.random() < 0.3:
        class_weight = {1: float(rng.uniform(0.5, 2.0)), -1: 1.0}
    kernel = {
        "gaussian": Gaussian.from_gamma(float(10 ** rng.uniform(-1.5, 1))),
        "polynomial": Polynomial(int(rng.integers(2, 4))),
        "linear": Linear(),
        "laplacian": Laplacian(float(10 ** rng.uniform(-0.5, 1))),
        "precomputed": Gaussian.from_gamma(0.5),
    }[kind]
    K = kernel.block(X)
    C = float(10 ** rng.uniform(-3, 6))
    trial = Trial(
        machine,
        Precomputed() if kind == "precomputed" else kernel,
        X,
        K,
        y,
        weight,
        C,
        float(rng.uniform(0.05, 0.9)),
        float(rng.choice([0.0, 0.01, 0.1, 0.5])),
        class_weight,
    )
    if machine == "NuSVC":  # at most twice the share of the smaller class
        bounds = trial.bounds
        trial.nu *= 2 * float(min(bounds[y > 0].sum(), bounds[y < 0].sum())) / float(bounds.sum())
    return trial


def hard(n=400, seed=0):
    """Overlapping classes at a high price, which take a long time."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, rng.random(n) < 0.5

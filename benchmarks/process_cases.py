"""Cases of Gaussian processes, against scikit-learn, GPyTorch, tinygp and celerite2.

``python -m benchmarks.process_cases [names]`` prints evidence and test likelihood of tuned processes on data
sets beside those of the peers.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sklearn.gaussian_process.kernels as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as SklearnClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as SklearnProcess

from mercer.kernels import Gaussian, Matern, WhiteNoise
from mercer.machines import GaussianProcessClassifier, GaussianProcessRegressor

from .harness import Case, Skipped

SETS = ("elevators", "bike", "protein")

#: Rows of each data set to train and to test on.
TRAIN, TEST = 2000, 2000


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    ours: Any  # a process that is fitted, for its evidence
    peer: Any


def start(d: int) -> tuple[Any, Any]:
    """The kernel to start from, one width per feature: ours and scikit-learn's."""
    width = np.full(d, np.sqrt(d))
    ours = 1.0 * Gaussian(width) + WhiteNoise(0.1)
    return ours, 1.0 * theirs.RBF(width, (1e-5, 1e8)) + theirs.WhiteKernel(0.1, (1e-8, 1e2))


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Waves and a product of features, with a tenth of noise; the other features say nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + np.cos(X[:, 3] + X[:, 4])
    return X, f + 0.1 * rng.standard_normal(n)


def problem(n: int, d: int, gpytorch: bool = False) -> Callable[[], Problem]:
    @cache
    def make() -> Problem:
        X, y = data(n, d)
        ours, peer = start(d)
        ours = GaussianProcessRegressor(ours, tune=None).fit(X, y)
        other = torch_process(X, y) if gpytorch else SklearnProcess(peer, optimizer=None).fit(X, y)
        return Problem(X, y, ours, other)

    return make


def evidence(p: Problem) -> tuple[float, np.ndarray]:
    value, slope = p.ours.log_marginal_likelihood(p.ours.theta_ + 0.01, eval_gradient=True)
    return float(value), slope


def peer_evidence(p: Problem) -> tuple[float, np.ndarray]:
    value, slope = p.peer.log_marginal_likelihood(p.ours.theta_ + 0.01, eval_gradient=True)
    return float(value), slope


def tuned(p: Problem) -> float:
    kernel = start(p.X.shape[1])[0]
    return float(GaussianProcessRegressor(kernel).fit(p.X, p.y).log_marginal_likelihood_value_)


def peer_tuned(p: Problem) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = SklearnProcess(start(p.X.shape[1])[1]).fit(p.X, p.y)
    return float(found.log_marginal_likelihood_value_)


def close(a: tuple[float, np.ndarray], b: tuple[float, np.ndarray]) -> bool:
    return bool(np.isclose(a[0], b[0], rtol=1e-8) and np.allclose(a[1], b[1], rtol=1e-4, atol=1e-4))


def not_worse(a: float, b: float) -> bool:
    return a >= b - 1e-3 * abs(b)


# -- GPyTorch -----------------------------------------------------------------------------------
class TorchProcess:
    """An exact process of GPyTorch in double precision, by Cholesky factors as ours is."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        import gpytorch
        import torch

        class Model(gpytorch.models.ExactGP):  # type: ignore[misc]
            def __init__(self, X: Any, y: Any, likelihood: Any) -> None:
                super().__init__(X, y, likelihood)
                self.mean_module = gpytorch.means.ZeroMean()
                self.covar_module = gpytorch.kernels.ScaleKernel(
                    gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
                )

            def forward(self, X: Any) -> Any:
                return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))

        self.torch, self.gpytorch = torch, gpytorch
        X, y = torch.from_numpy(np.array(X)), torch.from_numpy(np.array(y))
        noise = gpytorch.constraints.GreaterThan(1e-8)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=noise)
        self.model = Model(X, y, likelihood).double()
        self.X, self.y, self.n = X, y, len(y)
        width = np.full(X.shape[1], np.sqrt(X.shape[1]))
        self.set(np.log(np.r_[1.0, width, 0.1]))
        self.model.train()

    def set(self, theta: np.ndarray) -> None:
        values = self.torch.from_numpy(np.exp(theta))
        self.model.covar_module.outputscale = values[0]
        self.model.covar_module.base_kernel.lengthscale = values[1:-1][None]
        self.model.likelihood.noise = values[-1:]

    def loss(self) -> Any:
        with self.gpytorch.settings.fast_computations(False, False, False):
            output = self.model(self.X)
            return -self.model.likelihood(output).log_prob(self.y)

    def log_marginal_likelihood(self, theta: np.ndarray, eval_gradient: bool) -> tuple[float, np.ndarray]:
        self.set(theta)
        self.model.zero_grad()
        loss = self.loss()
        loss.backward()
        kernel = self.model.covar_module
        parts = [
            (kernel.raw_outputscale, kernel.raw_outputscale_constraint),
            (kernel.base_kernel.raw_lengthscale, kernel.base_kernel.raw_lengthscale_constraint),
            (
                self.model.likelihood.noise_covar.raw_noise,
                self.model.likelihood.noise_covar.raw_noise_constraint,
            ),
        ]
        slopes = []
        for raw, constraint in parts:  # from the raw parameters to logarithms
            free = raw.detach().clone().requires_grad_(True)
            value = constraint.transform(free)
            (change,) = self.torch.autograd.grad(value.log().sum(), free)
            slopes.append((-raw.grad / change).detach().numpy().ravel())
        return -float(loss.detach()), np.concatenate(slopes)

    def tune(self) -> float:
        # the objective is divided by n, as its authors do
        optimiser = self.torch.optim.LBFGS(
            self.model.parameters(), max_iter=200, line_search_fn="strong_wolfe", tolerance_grad=1e-6
        )

        def closure() -> Any:
            optimiser.zero_grad()
            loss = self.loss() / self.n
            loss.backward()
            return loss

        optimiser.step(closure)
        return -float(self.loss().detach())

    def predict(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.model.eval()
        with self.torch.no_grad(), self.gpytorch.settings.fast_computations(False, False, False):
            found = self.model.likelihood(self.model(self.torch.from_numpy(np.array(Z))))
            return found.mean.numpy(), found.variance.numpy()


def torch_process(X: np.ndarray, y: np.ndarray) -> TorchProcess:
    try:
        return TorchProcess(X, y)
    except ImportError as error:
        raise Skipped(str(error)) from error


def torch_tuned(p: Problem) -> float:
    return torch_process(p.X, p.y).tune()


# -- the line -----------------------------------------------------------------------------------
class Line(NamedTuple):
    t: np.ndarray
    y: np.ndarray
    peer: Callable[[np.ndarray, np.ndarray], float]


NOISE = 0.01


def line(n: int, peer: Callable[[], Callable[[np.ndarray, np.ndarray], float]]) -> Callable[[], Line]:
    @cache
    def make() -> Line:
        rng = np.random.default_rng(0)
        t = np.sort(rng.uniform(0, n / 100, n))
        try:
            return Line(t, np.sin(t) + 0.1 * rng.standard_normal(n), peer())
        except ImportError as error:
            raise Skipped(str(error)) from error

    return make


def line_fit(p: Line) -> float:
    model = GaussianProcessRegressor(1.0 * Matern(1.5, 1.0), alpha=NOISE, tune=None).fit(p.t[:, None], p.y)
    return float(model.log_marginal_likelihood_value_)


def with_tinygp() -> Callable[[np.ndarray, np.ndarray], float]:
    import jax

    jax.config.update("jax_enable_x64", True)
    from tinygp import GaussianProcess, kernels

    @jax.jit
    def value(t: Any, y: Any) -> Any:
        return GaussianProcess(kernels.quasisep.Matern32(1.0), t, diag=NOISE).log_probability(y)

    return lambda t, y: float(value(t, y))


def with_celerite2() -> Callable[[np.ndarray, np.ndarray], float]:
    import celerite2

    def value(t: np.ndarray, y: np.ndarray) -> float:
        process = celerite2.GaussianProcess(celerite2.terms.Matern32Term(sigma=1.0, rho=1.0))
        process.compute(t, diag=np.full(len(t), NOISE), check_sorted=False)
        return float(process.log_likelihood(y))

    return value


# -- labels -------------------------------------------------------------------------------------
def labels(p: Problem) -> Any:
    model = GaussianProcessClassifier(start(p.X.shape[1])[0].terms[0], tune=None).fit(p.X, p.y > 0)
    return model.log_marginal_likelihood(model.theta_, eval_gradient=True)


def peer_labels(p: Problem) -> Any:
    model = SklearnClassifier(start(p.X.shape[1])[1].k1, optimizer=None).fit(p.X, p.y > 0)
    return model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)


def roughly(a: tuple[float, np.ndarray], b: tuple[float, np.ndarray]) -> bool:
    return bool(np.isclose(a[0], b[0], rtol=1e-5) and np.allclose(a[1], b[1], rtol=1e-2, atol=1e-2))


CASES = [
    Case(
        "gp_evidence",
        "evidence and all gradients, n=2,000, d=20, one width per feature",
        "scikit-learn `GaussianProcessRegressor`",
        problem(2000, 20),
        evidence,
        peer_evidence,
        close,
        repeats=3,
        target=20.0,
    ),
    Case(
        "gp_evidence_torch",
        "evidence and all gradients, n=2,000, d=20, one width per feature",
        "GPyTorch, by Cholesky",
        problem(2000, 20, gpytorch=True),
        evidence,
        peer_evidence,
        close,
        repeats=3,
        target=2.0,
    ),
    Case(
        "gp_tuned",
        "tuned Gaussian process, n=1,000, d=10, one width per feature",
        "scikit-learn `GaussianProcessRegressor`",
        problem(1000, 10),
        tuned,
        peer_tuned,
        not_worse,
        repeats=2,
        target=20.0,
        warm=False,
    ),
    Case(
        "gp_tuned_torch",
        "tuned Gaussian process, n=1,000, d=10, one width per feature",
        "GPyTorch, by Cholesky and L-BFGS",
        problem(1000, 10, gpytorch=True),
        tuned,
        torch_tuned,
        not_worse,
        repeats=2,
        target=2.0,
        warm=False,
    ),
    Case(
        "gp_line",
        "evidence of a Matern process on the line, n=1,000,000",
        "tinygp, quasiseparable and compiled",
        line(10**6, with_tinygp),
        line_fit,
        lambda p: p.peer(p.t, p.y),
        lambda a, b: bool(np.isclose(a, b, rtol=1e-6)),
        repeats=3,
        target=1.0,
    ),
    Case(
        "gp_line_celerite",
        "evidence of a Matern process on the line, n=1,000,000",
        "celerite2, whose Matern is approximate",
        line(10**6, with_celerite2),
        line_fit,
        lambda p: p.peer(p.t, p.y),
        lambda a, b: bool(np.isclose(a, b, rtol=1e-2)),
        repeats=3,
        target=1.0,
    ),
    Case(
        "gp_labels",
        "evidence of labels and all gradients, n=1,000, d=10",
        "scikit-learn `GaussianProcessClassifier`",
        problem(1000, 10),
        labels,
        peer_labels,
        roughly,
        repeats=2,
    ),
]


# -- data sets ----------------------------------------------------------------------------------
def log_density(y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """The mean log density of test targets."""
    return float(np.mean(-0.5 * np.log(2 * np.pi * variance) - 0.5 * (y - mean) ** 2 / variance))


def sets(names: list[str]) -> None:
    from .regression_sets import load

    def mercer(X: Any, y: Any, Z: Any) -> Any:
        model = GaussianProcessRegressor(start(X.shape[1])[0]).fit(X, y)
        mean, std = model.predict(Z, return_std=True, include_noise=True)
        return model.log_marginal_likelihood_value_, mean, std**2

    def scikit_learn(X: Any, y: Any, Z: Any) -> Any:
        model = SklearnProcess(start(X.shape[1])[1]).fit(X, y)
        mean, std = model.predict(Z, return_std=True)
        return model.log_marginal_likelihood_value_, mean, std**2

    def gpytorch(X: Any, y: Any, Z: Any) -> Any:
        model = torch_process(X, y)
        value = model.tune()
        return value, *model.predict(Z)

    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| data | side | seconds | evidence | test log density |\n| --- | --- | ---: | ---: | ---: |")
    for name in names or SETS:
        X, y, Z, truth = load(name)
        rng = np.random.default_rng(0)
        rows, others = rng.permutation(len(X))[:TRAIN], rng.permutation(len(Z))[:TEST]
        for side in (mercer, gpytorch, scikit_learn):
            begin = time.perf_counter()
            value, mean, variance = side(X[rows], y[rows], Z[others])
            seconds = time.perf_counter() - begin
            density = log_density(truth[others], mean, variance)
            row = f"| {name}, {TRAIN:,} | {side.__name__} | {seconds:.1f} "
            print(f"{row}| {value:.1f} | {density:.4f} |", flush=True)


if __name__ == "__main__":
    sets(sys.argv[1:])

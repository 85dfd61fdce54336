"""Kernels, one family per file.

=================  ========================================================================
``dot``            inner products and functions of them
``sigmoid``        the sigmoid of the inner product, which is not positive definite
``cosine``         the cosine of the angle
``anova``          monomials without repetition, all subsets, over any base kernels
``kernel_graphs``  sums over the paths of a graph of products of kernels
``languages``      the same, from regular expressions over kernels
``radial``         the Gaussian and its relatives
``mahalanobis``    the Gaussian of a general metric
``matern``         Matern
``l1``             products over coordinates: Laplacian, Cauchy, periodic
``powers``         powers of the distance and exponentials of them
``wendland``       compactly supported kernels
``windows``        windows that are not positive definite
``thinplate``      thin-plate splines
``intersections``  sums of minima
``mixtures``       mixtures of frequencies and of rates
``trig``           cosines, sines, sinc
``reals``          minima, maxima, the Brownian bridge
``comparisons``    overlaps of windows around two numbers
``semigroup``      functions of x + y
``compositions``   functions of your own of composed points: sums, strings, unions
``splines``        Sobolev spaces and splines
``histograms``     chi-square, Jensen, total variation, Hellinger, Bhattacharyya
``divergences``    Kullback-Leibler and Jeffreys, which are not negative definite
``simplex``        geodesics of the probability simplex
``fingerprints``   bits and counts of molecules
``measures``       Gaussian measures
``clouds``         clouds of points, from a kernel on the points
``sets``           intersections and symmetric differences
``subsets``        subsets of a universe
``series``         time series: alignments, warping, transitions, autocorrelation; a folder
``derived``        sums of a kernel over members
``transport``      sliced Wasserstein and earth mover's distances of clouds
``events``         events of a probability space, Boolean functions
``noise``          equality
``categorical``    unordered values
``strings``        sequences of letters or of any symbols, and automata: a folder
``graphs``         graphs against graphs: a folder
``generative``     probability models: a folder
``images``         images: a folder
``nodes``          nodes of one graph: a folder
``trees``          ordered trees with labels: a folder
``frames``         columns of data frames
``proposal``       a kernel for each column of a data frame, by its type
``precomputed``    a given matrix
=================  ========================================================================

``Radial``, ``DotProduct`` and ``Scalar`` are there to be subclassed: a kernel of theirs is one formula.
``inner``, ``monomials``, ``scalar``, ``sums``, ``widths``, ``weights``, ``recursions``, ``search``,
``labelled_graphs``, ``path_programs``, ``counts`` and ``products`` hold what several families share.
The constant kernel and the combinators that appear in a ``repr`` are here too, so that ``eval(repr(k))``
needs no other names.
"""

from ..algebra import Constant, convolution, direct_sum, limit, tensor
from .anova import AllSubsets, Anova, AnovaOf
from .categorical import Categorical
from .clouds import CloudVariance, MeanMap
from .comparisons import GaussianComparison, SoftComparison, Triangular
from .compositions import Semicharacters, Semigroup
from .cosine import Cosine
from .derived import DerivedSubsets, DualWords, Jittered
from .divergences import GaussianJeffreys, Jeffreys, jeffreys_divergence, kl_divergence
from .dot import DotProduct as DotProduct
from .dot import ExponentialDot, InverseRoot, Linear, Polynomial
from .events import BooleanFunctions, EventCovariance, SampledIntersection
from .fingerprints import DotTanimoto, MinMax, Tanimoto
from .frames import Columns, columns
from .generative import (
    Fisher,
    FisherVector,
    Marginalized,
    MutualInformation,
    ParameterKernel,
    ProbabilityProduct,
    SampledMutualInformation,
    TangentPosterior,
)
from .graphs import (
    EdgeHistogram,
    Graphlets,
    MarginalizedWalk,
    RandomWalk,
    ShortestPath,
    TreeWalk,
    VertexHistogram,
    WassersteinWL,
    WeisfeilerLehman,
    WLOptimalAssignment,
    graphlet_samples,
)
from .histograms import ChiSquare, Hellinger, Jensen, TotalVariation
from .images import (
    ColorHistogram,
    NestedHistograms,
    Patches,
    PyramidMatch,
    SegmentationGraph,
    SpatialPyramid,
    TangentDistance,
    tangent_distances,
)
from .intersections import Intersection, MinExponential
from .kernel_graphs import KernelGraph
from .l1 import Cauchy, Laplacian, Periodic
from .languages import RegularLanguage
from .mahalanobis import Mahalanobis
from .matern import Matern
from .measures import GaussianProduct, MeanVariance
from .mixtures import LaplaceMixture, SpectralMixture
from .nodes import (
    Cutoff,
    Diffusion,
    ExponentialDiffusion,
    GraphMatern,
    Heat,
    InverseCosine,
    LaplacianKernel,
    OneStep,
    PathKernel,
    Regularized,
    SeriesKernel,
    Steps,
    TruncatedSpectrum,
    VonNeumann,
)
from .noise import WhiteNoise
from .powers import PowerDistance, PowerExponential
from .precomputed import Precomputed
from .proposal import from_frame
from .radial import Exponential, Gaussian, RationalQuadratic
from .radial import Radial as Radial
from .reals import BrownianBridge, CapMinusMax, InverseMax, MaxRatio, Min, MinOverMax
from .scalar import Scalar as Scalar
from .semigroup import ExponentialSum, InverseSum, LogSum
from .series import DTW, Autocorrelation, GlobalAlignment, SoftDTW, Transitions, dtw, dtw_path
from .sets import CommonSubsets, Jaccard, SetIntersection, SymmetricDifference
from .sigmoid import Sigmoid
from .simplex import Geodesic, InformationDiffusion, SquaredGeodesic
from .splines import Sobolev1, Sobolev1HalfLine, Sobolev2, Spline, SplineRemainder
from .strings import (
    AllSubsequences,
    BagOfWords,
    Compression,
    ContextTree,
    EditDistance,
    Factors,
    GappedKmer,
    GappyNGram,
    LocalAlignment,
    Mismatch,
    NGram,
    Rational,
    RegexCount,
    Spectrum,
    Subsequence,
    WeightedDegree,
    Wildcard,
    as_rational,
)
from .subsets import Agreement, UnionComplement
from .thinplate import ThinPlate
from .transport import EarthMover, SlicedWasserstein, earth_mover
from .trees import PartialTree, SubsetTree, SubTree
from .trig import CosineDifference, CosineOfSquares, Sinc, SinSquared
from .wendland import Wendland
from .windows import BoxWindow, Epanechnikov

columns.from_frame = from_frame  # type: ignore[attr-defined]

__all__ = [
    "DTW",
    "Agreement",
    "AllSubsequences",
    "AllSubsets",
    "Anova",
    "AnovaOf",
    "Autocorrelation",
    "BagOfWords",
    "BooleanFunctions",
    "BoxWindow",
    "BrownianBridge",
    "CapMinusMax",
    "Categorical",
    "Cauchy",
    "ChiSquare",
    "CloudVariance",
    "ColorHistogram",
    "Columns",
    "CommonSubsets",
    "Compression",
    "Constant",
    "ContextTree",
    "Cosine",
    "CosineDifference",
    "CosineOfSquares",
    "Cutoff",
    "DerivedSubsets",
    "Diffusion",
    "DotTanimoto",
    "DualWords",
    "EarthMover",
    "EdgeHistogram",
    "EditDistance",
    "Epanechnikov",
    "EventCovariance",
    "Exponential",
    "ExponentialDiffusion",
    "ExponentialDot",
    "ExponentialSum",
    "Factors",
    "Fisher",
    "FisherVector",
    "GappedKmer",
    "GappyNGram",
    "Gaussian",
    "GaussianComparison",
    "GaussianJeffreys",
    "GaussianProduct",
    "Geodesic",
    "GlobalAlignment",
    "GraphMatern",
    "Graphlets",
    "Heat",
    "Hellinger",
    "InformationDiffusion",
    "Intersection",
    "InverseCosine",
    "InverseMax",
    "InverseRoot",
    "InverseSum",
    "Jaccard",
    "Jeffreys",
    "Jensen",
    "Jittered",
    "KernelGraph",
    "LaplaceMixture",
    "Laplacian",
    "LaplacianKernel",
    "Linear",
    "LocalAlignment",
    "LogSum",
    "Mahalanobis",
    "Marginalized",
    "MarginalizedWalk",
    "Matern",
    "MaxRatio",
    "MeanMap",
    "MeanVariance",
    "Min",
    "MinExponential",
    "MinMax",
    "MinOverMax",
    "Mismatch",
    "MutualInformation",
    "NGram",
    "NestedHistograms",
    "OneStep",
    "ParameterKernel",
    "PartialTree",
    "Patches",
    "PathKernel",
    "Periodic",
    "Polynomial",
    "PowerDistance",
    "PowerExponential",
    "Precomputed",
    "ProbabilityProduct",
    "PyramidMatch",
    "RandomWalk",
    "Rational",
    "RationalQuadratic",
    "RegexCount",
    "RegularLanguage",
    "Regularized",
    "SampledIntersection",
    "SampledMutualInformation",
    "SegmentationGraph",
    "Semicharacters",
    "Semigroup",
    "SeriesKernel",
    "SetIntersection",
    "ShortestPath",
    "Sigmoid",
    "SinSquared",
    "Sinc",
    "SlicedWasserstein",
    "Sobolev1",
    "Sobolev1HalfLine",
    "Sobolev2",
    "SoftComparison",
    "SoftDTW",
    "SpatialPyramid",
    "SpectralMixture",
    "Spectrum",
    "Spline",
    "SplineRemainder",
    "SquaredGeodesic",
    "Steps",
    "SubTree",
    "Subsequence",
    "SubsetTree",
    "SymmetricDifference",
    "TangentDistance",
    "TangentPosterior",
    "Tanimoto",
    "ThinPlate",
    "TotalVariation",
    "Transitions",
    "TreeWalk",
    "Triangular",
    "TruncatedSpectrum",
    "UnionComplement",
    "VertexHistogram",
    "VonNeumann",
    "WLOptimalAssignment",
    "WassersteinWL",
    "WeightedDegree",
    "WeisfeilerLehman",
    "Wendland",
    "WhiteNoise",
    "Wildcard",
    "as_rational",
    "columns",
    "convolution",
    "direct_sum",
    "dtw",
    "dtw_path",
    "earth_mover",
    "graphlet_samples",
    "jeffreys_divergence",
    "kl_divergence",
    "limit",
    "tangent_distances",
    "tensor",
]

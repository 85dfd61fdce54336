"""Sphinx configuration."""

import importlib.metadata

project = "mercer"
author = "mercer developers"
release = importlib.metadata.version("mercer")
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
html_title = "mercer"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
# inherited docstrings of scikit-learn refer to labels of its own documentation
suppress_warnings = ["myst.xref_missing", "ref.ref"]

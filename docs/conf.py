"""Sphinx configuration."""

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "mercer"
author = "mercer developers"
release = importlib.metadata.version("mercer")
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
html_math_renderer = "mathml"  # in docs/extensions
html_static_path = ["static"]
html_css_files = ["narrow.css"]
html_title = "mercer"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
# inherited docstrings of scikit-learn refer to labels and to the glossary of its own documentation
suppress_warnings = ["ref.ref", "ref.term"]

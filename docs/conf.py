"""How the documentation is built: offline, strictly, from Markdown pages and the package's docstrings."""

from importlib.metadata import version as version_of

project = "Indistinct"
author = "The Indistinct authors"
copyright = "The Indistinct authors"  # noqa: A001  # the name that Sphinx reads
release = version = version_of("indistinct")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
default_role = "code"  # `epsilon` in a docstring is code, as in Markdown
myst_heading_anchors = 3

autodoc_typehints = "description"
autodoc_member_order = "bysource"
# A reference to our own names must resolve; other projects' names have no page here to lead to.
# Variables that stand for types have none either.
nitpick_ignore_regex = [
    ("py:.*", r"(?!indistinct\b).*"),
    ("py:.*", r"indistinct\..*\.Candidate"),
    ("py:class", r"indistinct\.queries\.(answers|plans)\..*"),  # what an answer keeps to itself
    ("py:class", r"indistinct\.composition\.folding\..*"),  # how few uses are added up
]

html_theme = "furo"
html_title = f"Indistinct {release}"
html_show_sourcelink = False
html_copy_source = False

"""Tests a mechanism from the outside, as an adversary would."""

from indistinct.audit.exact import exact
from indistinct.audit.verdicts import ExactAudit

__all__ = ["ExactAudit", "exact"]

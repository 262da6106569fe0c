"""Tests a mechanism from the outside, as an adversary would, and from the inside, by its exact law."""

from indistinct.audit.assertion import NotPrivate, assert_private
from indistinct.audit.by_test import TestedAudit, by_test
from indistinct.audit.exact import exact
from indistinct.audit.judging import Event
from indistinct.audit.verdicts import ExactAudit, Place

__all__ = ["Event", "ExactAudit", "NotPrivate", "Place", "TestedAudit", "assert_private", "by_test", "exact"]

"""Budgets for analysts who choose what to ask, and at which level, from what they have seen: filters and odometers."""

from indistinct.composition.filters.basic import BasicFilter, BasicRule
from indistinct.composition.filters.concentrated import ConcentratedFilter, ConcentratedRule
from indistinct.composition.filters.declared import DeclaredPlan
from indistinct.composition.filters.filter import Filter, PrivacyFilter, Rule, charge_together
from indistinct.composition.filters.gaussian import GaussianFilter, GaussianRule
from indistinct.composition.filters.group import group_privacy
from indistinct.composition.filters.odometer import Odometer, Reading
from indistinct.composition.filters.partition import Adjacency, Partition
from indistinct.composition.filters.renyi import RenyiFilter, RenyiRule
from indistinct.composition.filters.spending import Approximately, Claim, Spending

__all__ = [
    "Adjacency",
    "Approximately",
    "BasicFilter",
    "BasicRule",
    "Claim",
    "ConcentratedFilter",
    "ConcentratedRule",
    "DeclaredPlan",
    "Filter",
    "GaussianFilter",
    "GaussianRule",
    "Odometer",
    "Partition",
    "PrivacyFilter",
    "Reading",
    "RenyiFilter",
    "RenyiRule",
    "Rule",
    "Spending",
    "charge_together",
    "group_privacy",
]

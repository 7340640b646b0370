"""Contracts on imports that import-linter does not bring."""

from typing import Any

from grimp import ImportGraph
from importlinter.contracts.independence import IndependenceContract
from importlinter.domain.contract import ContractCheck
from importlinter.domain.helpers import module_expressions_to_modules
from importlinter.domain.imports import ModuleExpression


class IndependentPackages(IndependenceContract):
    """Packages that some expressions match are independent; modules beside them are left out.

    So every family is a stranger to the others as soon as its folder is there.
    """

    type_name = "independent_packages"
    modules: Any  # the library declares a field here and puts a set of expressions in its place

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Checks the packages."""
        matched = module_expressions_to_modules(graph, self.modules)
        self.modules = {
            ModuleExpression(module.name) for module in matched if graph.find_children(module.name)
        }
        return super().check(graph, verbose)

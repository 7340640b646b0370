"""The mechanisms of a family: each is one value, and lists of them ask its catalogue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from hushway.errors import PlanError, ReleaseError
from hushway.privacy.certificate import MechanismRecord
from hushway.release.plans.sections import Section
from hushway.release.terms import rebuilt

if TYPE_CHECKING:
    from hushway.auditing.suite import Suite

Setting = TypeVar("Setting")
Planned = TypeVar("Planned")


@dataclass(frozen=True, kw_only=True)
class MechanismSpec(Generic[Setting, Planned]):
    """One mechanism, as plans choose it, certificates name it and audits attack it.

    What it measures and how it fits is said by the mechanism that both functions return.

    Attributes:
        name: What plans and certificates call it.
        options: The model of the table [mechanism] in a plan; its field `name` is the literal name.
        from_plan: Makes the mechanism for a plan and what was read of its public files.
        from_certificate: Makes it again from the public parameters of a certificate and the public
            files of a release. It may fail in any way if they do not fit.
        audits: Returns its audits and planted mistakes; None if those of the family are enough.
    """

    name: str
    options: type[Section]
    from_plan: Callable[[Setting], Planned]
    from_certificate: Callable[..., Any]
    audits: "Callable[[], Suite[Any]] | None" = None


class Catalogue(Generic[Setting, Planned]):
    """The mechanisms of a family by name. Plans that name none get `default`."""

    def __init__(self, *specs: MechanismSpec[Setting, Planned], default: str) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._default = default

    def add(self, spec: MechanismSpec[Setting, Planned], plan: type[Any]) -> None:
        """Adds a mechanism of one's own, which plans of this process can name from now on.

        Args:
            spec: The mechanism.
            plan: The model of the family's plans.

        Raises:
            PlanError: There is another one of that name.
        """
        if self._specs.setdefault(spec.name, spec) is not spec:
            raise PlanError(
                f"There is a mechanism {spec.name!r} already.", advice="Choose another name."
            )
        plan.model_rebuild(force=True)

    def __iter__(self) -> Iterator[MechanismSpec[Setting, Planned]]:
        return iter(self._specs.values())

    def __getitem__(self, name: str) -> MechanismSpec[Setting, Planned]:
        return self._specs[name]

    def certified(self, record: MechanismRecord, *public: Any) -> Any:
        """Returns the mechanism of a certificate.

        Args:
            record: Name and parameters.
            public: What the family hands to `from_certificate` beside the parameters.

        Raises:
            ReleaseError: It is not one of this version.
        """
        if record.name not in self._specs:
            raise ReleaseError(
                f"The mechanism {record.name!r} is not one of this release type.",
                advice="Verify with the version of hushway that the certificate names.",
            )
        build = self._specs[record.name].from_certificate
        return rebuilt(record, lambda parameters: build(parameters, *public))

    def __get_pydantic_core_schema__(
        self, _source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Lets a plan's field be annotated with the catalogue: the options of one mechanism."""
        models = tuple(spec.options for spec in self)
        if len(models) == 1:
            return handler.generate_schema(models[0])
        one_of = Annotated[Union[models], Field(discriminator="name")]  # type: ignore[valid-type]  # noqa: UP007
        return handler.generate_schema(Annotated[one_of, BeforeValidator(self._named)])

    def _named(self, options: Any) -> Any:
        return {"name": self._default, **options} if isinstance(options, dict) else options

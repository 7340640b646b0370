"""The ground under the map of a release: one more public file, whatever the release type."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.folder.published_file import Contents, Description, Resource

if TYPE_CHECKING:
    from hushway.geography.ground import Ground

GROUND: Final = "ground.geojson"
_RESOURCE: Final = Resource(
    path=GROUND,
    title="Ground under the map",
    description="Water, roads and lines for orientation, simplified from public files that the "
    "publisher named. Public knowledge, not made from the data.",
    mediatype="application/geo+json",
)


def with_ground(description: Description) -> Description:
    """Returns what a data package says of a release that has ground, too."""
    return replace(description, resources=(*description.resources, _RESOURCE))


def on_ground(contents: Contents, ground: "Ground | None") -> Contents:
    """Returns contents with the ground under their map, if there is any."""
    return contents if ground is None else _Grounded(contents=contents, ground=ground)


@dataclass(frozen=True, kw_only=True)
class _Grounded:
    """Contents of a release with a map that has ground."""

    contents: Contents
    ground: "Ground"

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the contents and the certificate belong together."""
        self.contents.check(certificate)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return with_ground(self.contents.description)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        self.contents.write(folder, progress)
        (folder / GROUND).write_bytes(self.ground.to_json())

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the picture of the contents; its maps stand on the ground."""
        from hushway.release.drawing.ground import standing_on

        with standing_on(self.ground):
            return self.contents.picture(certificate)

"""Commands on releases: verify, sign off, ask, compare, synthesize, and write sites."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.console import AsJson, answer_json, say, table, working
from hushway.cli.keys import ask_passphrase
from hushway.steward.verify_confined import verify_confined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushway.families.comparison import Comparison
    from hushway.release.forecast.true_errors import TrueErrors
    from hushway.release.questions.answers import Answer

_VERDICTS = {
    "verified": "It adds up, and is signed by the given key.",
    "signed": "It adds up, and is signed: compare the key above with the publisher's, or give it "
    "with --key.",
    "unsigned": "It adds up; not signed.",
    "not private": "NOT PRIVATE: intact, but its noise can be drawn again. Protects nobody.",
    "failed": "DO NOT TRUST IT: ask the publisher for an intact copy.",
}
_SHOWN = {"failed": "FAILED"}
_WHOLE = 10


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.")],
    *,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The publisher's public key: the signature must be theirs."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger", help="Also ask the publisher's ledger, or the plan that names it."
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="Also fit it again from its noisy answers: the table must be the same to the last "
            "byte. Takes as long as the fit did.",
        ),
    ] = False,
    series: Annotated[
        Path | None,
        typer.Option(
            "--series",
            metavar="FOLDER",
            help="With --refit, the folder with the releases that it learnt from.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute what a release claims, as far as that is possible without the data."""
    found = verify_confined(release, key=key, ledger=ledger, refit=refit, series=series)
    if as_json:
        answer_json(found)
    else:
        _show_verification(release, found)
    if not found["passed"]:
        raise typer.Exit(1)


def _show_verification(folder: Path, found: dict[str, Any]) -> None:
    """Prints which release it is, what was checked, and what follows; in this order."""
    release = found["release"]
    if release is None:
        say(f"{folder}: which release this is cannot be told. See the checks that failed.")
    else:
        table(f"The release in {folder} says that it is", ["", ""], _named(release, found))
    rows = [
        [_SHOWN.get(check["outcome"], check["outcome"]), check["name"], check["sentence"]]
        for check in found["checks"]
    ]
    table("What was checked", ["", "check", "finding"], rows)
    if found["checked_by"] is not None:
        say(
            f"The files of this release type were checked by the package {found['checked_by']}, "
            "which is not part of hushway: trust that finding as far as you trust the package."
        )
    say(_VERDICTS[found["result"]])
    if found["warning"] is not None:
        say(f"WARNING: {found['warning']}")


def _named(release: dict[str, Any], found: dict[str, Any]) -> list[list[str]]:
    """Returns the rows that name a release, and say what was not checked."""
    signer = release["signed_by"]
    signed_by = "nobody"
    if signer is not None:
        compared = "the key that you gave" if found["key_given"] else "compared with no key"
        signed_by = f"key {signer['fingerprint']}, {compared}"
    return [
        ["title", release["title"]],
        ["release id", release["id"]],
        ["release type", release["release_type"]],
        ["data set", release["dataset"]],
        ["window", release["window"] or "none: it holds no times"],
        ["account period", release["account_period"]],
        ["protected unit", release["unit"]],
        ["written at", f"{release['created_at']}, by the publisher's clock"],
        ["publisher", release["publisher"] or "not named"],
        ["signed by", signed_by],
        ["certificate", release["certificate"]],
    ]


def revise(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release of a series.")],
    *,
    series: Annotated[
        Path,
        typer.Option("--series", metavar="FOLDER", help="Holds the releases of the series."),
    ],
    to: Annotated[Path, typer.Option("--to", help="Where the revised release appears.")],
    final: Annotated[
        bool, typer.Option("--final", help="Say that it will not be revised again.")
    ] = False,
    signing_key: Annotated[
        Path | None, typer.Option("--signing-key", help="What signs it; nothing if left out.")
    ] = None,
) -> None:
    """Fit a release again with all other steps of its series; reads no rows and costs nothing."""
    from hushway.steward.revise import revise as revise_release

    with working() as show:
        folder = revise_release(
            release,
            series=series,
            to=to,
            final=final,
            signing_key=signing_key,
            passphrase=ask_passphrase,
            progress=show,
        )
    say(f"Wrote {folder}, a revision of {release}. Nothing was spent.")


def dossier(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release folder.")],
    *,
    key: Annotated[Path | None, typer.Option("--key", help="The publisher's public key.")] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="The publisher's ledger, or the plan.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", help="A new Markdown file for the pack.")
    ] = Path("dossier.md"),
) -> None:
    """Write a sign-off pack for a privacy officer: NIST SP 800-226, DPIA, odds and decisions."""
    from hushway.steward.dossier import dossier as write_dossier

    with working() as show:
        show("Verifying")
        left = write_dossier(release, key=key, ledger=ledger, output=output)
    say(f"Wrote {output}. {left} answers are left open: only people can give them.")


def ask(  # noqa: PLR0913  a question has as many parts
    release: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...", help="The release folder; or several, or a folder of them."
        ),
    ],
    *,
    where: Annotated[
        list[str] | None,
        typer.Option(help="What to add up, such as origins=A,B or periods=08:00; * is any text."),
    ] = None,
    minus: Annotated[list[str] | None, typer.Option(help="What to take off it.")] = None,
    over: Annotated[list[str] | None, typer.Option(help="What to divide it by.")] = None,
    mean: Annotated[
        str | None, typer.Option(metavar="DIMENSION", help="Divide by how many periods, say.")
    ] = None,
    top: Annotated[int | None, typer.Option(help="So many of the largest.", min=1)] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="DIMENSION", help="What the largest, or changes, are of: origins, say."
        ),
    ] = None,
    each: Annotated[
        str | None,
        typer.Option(metavar="LENGTH", help="Of a series: sums of each step, quarter or year."),
    ] = None,
    changes: Annotated[
        bool,
        typer.Option("--changes", help="Of a series: what changed between steps beyond noise."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add up what releases publish, with intervals of 95%; costs no budget."""
    from hushway.families.asking import ask as answered
    from hushway.steward.facts import answer_facts

    found = answered(
        release,
        where=where or (),
        minus=minus or (),
        over=over or (),
        mean=mean,
        top=top,
        by=by,
        each=each,
        changes=changes,
    )
    if as_json:
        answer_json(answer_facts(found))
        return
    show_them = _show_changes if changes else _show_answers
    show_them(found.of, found.counted, found.answers)
    for note in (*found.notes, *([] if found.warning is None else [f"WARNING: {found.warning}"])):
        say(note)


def series(
    releases: Annotated[
        list[Path],
        typer.Argument(metavar="RELEASE...", help="The release folders, or a folder of them."),
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", help="A new folder for copies of them, a table over all steps, and metadata."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read releases of one city step by step: sums, and changes beyond noise; costs nothing."""
    from hushway.families.series_folder import series as open_series
    from hushway.steward.facts import series_facts

    with working() as show:
        show("Reading the releases")
        found = open_series(releases, to=to)
        facts = series_facts(found)
    if as_json:
        answer_json(facts)
        return
    for length in found.lengths:
        _show_answers(f"Each {length}. {found.sentence}", facts["counted"], found.sum(length))
    _show_changes("Changes beyond noise", facts["counted"], found.changes())
    for note in facts["notes"]:
        say(note)
    if to is not None:
        say(f"{to}: the releases, series.csv and metadata for catalogues; README.md tells more.")


def _show_changes(title: str, counted: str, changes: "Sequence[Answer]") -> None:
    if changes:
        _show_answers(title, counted, changes)
    else:
        say(f"{title}: no change is larger than noise alone may be.")


def _show_answers(title: str, counted: str, answers: "Sequence[Answer]") -> None:
    rows = [
        [_asked(one), *(_short(number) for number in (one.value, one.low, one.high))]
        for one in answers
    ]
    table(title, ["", f"#{counted}", "#95% from", "#to"], rows)


def _asked(one: "Answer") -> str:
    """Returns what an answer is of; of a change also from when to when."""
    from hushway.release.questions.steps import Change

    return f"{one.label}, {one.earlier} to {one.later}" if isinstance(one, Change) else one.label


def _short(number: float) -> str:
    """Returns a number without false precision: whole from ten on, three digits below."""
    return f"{number:,.0f}" if abs(number) >= _WHOLE else f"{number:.3g}"


def synthesize(
    release: Annotated[
        Path, typer.Argument(help="A release folder of the release type od or sequences.")
    ],
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The file to write: .csv, .parquet, .omx for a drawn OD table by period, .xml or "
            ".xml.gz for MATSim plans, .rou.xml for SUMO persons.",
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(help="Chooses the draw and the times.", min=0)] = 1,
    table: Annotated[
        bool, typer.Option("--table", help="Write a drawn OD table, not single trips.")
    ] = False,
    mode: Annotated[
        str,
        typer.Option(help="How travellers move, for simulators: car, transit, bicycle or walk."),
    ] = "car",
) -> None:
    """Write synthetic trips, taps or travellers that fit a release; costs no budget."""
    from hushway.families.asking import synthesize as write_synthetic

    with working() as show:
        written = write_synthetic(release, path, seed=seed, table=table, mode=mode, progress=show)
    say(written)


def site(
    releases: Annotated[
        list[Path], typer.Argument(metavar="RELEASE...", help="The release folders.")
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("--to", help="A new folder for the site, to be hosted.")
    ] = None,
    one_file: Annotated[
        Path | None,
        typer.Option(
            "--one-file", help="A new HTML file with all of it; site.html if nothing is named."
        ),
    ] = None,
    ground: Annotated[
        list[Path] | None,
        typer.Option(
            "--ground",
            help="A public file to draw under the maps: GeoJSON, GeoPackage, a shapefile, an "
            "OpenStreetMap extract, vector tiles (PMTiles), a GTFS feed or a GMNS folder. May be "
            "given several times.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier site or page of this command.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write releases as maps for a browser: a site of plain files, or one HTML file."""
    from hushway.sites.write import USUAL_FILE
    from hushway.sites.write import site as write_site
    from hushway.steward.facts import site_facts

    if to is None and one_file is None:
        one_file = USUAL_FILE
    with working() as show:
        found = write_site(
            releases, to=to, one_file=one_file, ground=ground or (), force=force, progress=show
        )
    if as_json:
        answer_json(site_facts(found, to=to, one_file=one_file))
        return
    for each in found:
        stamp = f" ({each.stamp})" if each.stamp else ""
        say(f"{each.title}, {each.period}{stamp}: #{each.slug}")
    if to is not None:
        say(f"{to}: put it on any web server; to look at it: python3 -m http.server -d {to}")
    if one_file is not None:
        say(f"{one_file}: open it in a browser; it needs no network.")


def compare(
    one: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="Another one, of the same type.")
    ] = None,
    *,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Instead of another release: the plan of this one, whose exact rows are read, "
            "for the steward's own screen."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two releases figure by figure: what differs by more than their noise; costs nothing.

    Only published numbers are read. With --truth the exact rows are: what is printed then carries
    no guarantee and must not be published. It is written to no file.
    """
    from hushway.families.comparison import Comparison
    from hushway.steward.compare import compare as compare_with
    from hushway.steward.facts import comparison_facts, true_error_facts

    with working() as show:
        found = compare_with(one, other, truth=truth, progress=show)
    if isinstance(found, Comparison):
        if as_json:
            answer_json(comparison_facts(found))
        else:
            _show_comparison(found)
    elif as_json:
        answer_json(true_error_facts(found.value))
    else:
        _show_true_errors(found.value)


def _show_true_errors(found: "TrueErrors") -> None:
    from hushway.steward.facts import INTERNAL_ROWS

    published, true = found.total
    say(INTERNAL_ROWS)
    say(f"All {found.counted}: {published:,.0f} published, {true:,.0f} in truth.")
    if found.misplaced is not None:
        say(
            f"{found.counted.capitalize()} misplaced over all cells: {found.misplaced:.1%} of all "
            f"{found.counted}."
        )
    table(
        f"Off by, on average, in {found.counted} ({INTERNAL_ROWS})",
        ["figure", "#mean absolute error"],
        [[figure, f"{error:,.1f}"] for figure, error in found.figures.items()],
    )


def _show_comparison(found: "Comparison") -> None:
    first, second = found.totals
    if not found.same_universe:
        say(
            "These releases are over different public cells, such as another window or other "
            "places: figures are compared where they are named alike."
        )
    say(
        f"All figures together: {first:,.0f} and {second:,.0f}, a difference of "
        f"{second - first:+,.0f}."
    )
    say(
        f"{found.both:,} figures are in both, {found.only[0]:,} only in the first and "
        f"{found.only[1]:,} only in the second."
    )
    if found.correlation is not None:
        say(
            "Correlation of all figures, with 0 for those that are not there: "
            f"{found.correlation:.3f}."
        )
    if found.beyond is None:
        say("These figures carry no standard errors, so nothing is said about noise.")
        return
    share = found.beyond / found.both if found.both else 0.0
    say(
        f"{found.beyond:,} ({share:.1%}) of those in both differ by more than two joint standard "
        "errors. Noise alone makes about 5% do so."
    )
    if found.largest:
        table(
            "Largest differences, in joint standard errors",
            ["figure", "#first", "#second", "#joint error", "#difference"],
            [
                [
                    one.figure,
                    f"{one.one:,.1f}",
                    f"{one.other:,.1f}",
                    f"{one.joint_error:,.1f}",
                    f"{(one.other - one.one) / one.joint_error:+.1f}",
                ]
                for one in found.largest
            ],
        )

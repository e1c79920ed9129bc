"""Whether a broker answers this key, and is new enough; with the next step where not."""

import contextlib

from sandbox_runner.broker.line import FAULTS, Broker, connect
from sandbox_runner.errors import RunnerError
from sandbox_runner.looking import NTP, Finding, State

LEAST = (2, 12)
"""Older servers lose jobs when they are killed."""
STEPS = (
    ("expired", f"if this host's clock is right, make another one (deploy/README.md); else {NTP}"),
    ("not yet valid", f"this host's clock is behind, or the broker's was ahead when it was made: {NTP}"),
    ("certificate", "give the authority that signed it (`*_CA_FILE`), and reach the broker by the name that it bears"),
    ("refused this key", "on its host: users.py add NAME --seed FILE, then nats-server --signal reload"),
    ("TLS is needed", "write nats+tls://, and give the broker a certificate"),
    ("", "on its host: systemctl status nats-server; curl -s http://127.0.0.1:8222/healthz; is its port open to here?"),
)


async def broker_seen(broker: Broker, name: str) -> Finding:
    """Connect once, and leave."""
    try:
        line = await connect(broker, name)
    except (RunnerError, *FAULTS, ValueError) as fault:
        step = next(step for word, step in STEPS if word in str(fault))
        return Finding("broker", State.BAD, str(fault) or type(fault).__name__, step)
    try:
        there = line.connected_server_version
        version = f"nats-server {there.major}.{there.minor}.{there.patch}"
        if (there.major, there.minor) < LEAST:
            least = ".".join(map(str, LEAST))
            return Finding(
                "broker", State.BAD, f"{version} at {broker.address}", f"install {least} or newer: it loses jobs"
            )
        return Finding("broker", State.OK, f"{version} answers at {broker.address}")
    finally:
        with contextlib.suppress(*FAULTS):
            await line.close()

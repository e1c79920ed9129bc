from bot.adapters.web.gate import HEADERS, Gate
from bot.adapters.web.pace import Pace

KEY = b"k" * 32


def test_a_signed_cookie_names_its_learner() -> None:
    gate = Gate(KEY)
    assert gate.learner(gate.sign("Abc-123_x")) == "Abc-123_x"


def test_a_forged_damaged_or_foreign_cookie_names_nobody() -> None:
    gate = Gate(KEY)
    good = gate.sign("learner")
    signature = good.rpartition(".")[2]
    forged = [
        None,
        "",
        ".",
        "1.learner",
        f"1.other.{signature}",
        f"2.learner.{signature}",
        good + "x",
        good[:-1],
        "é.é.é",
        "\udcff.1",
    ]
    assert [gate.learner(value) for value in forged] == [None] * len(forged)
    assert Gate(b"another key of the installation.").learner(good) is None


def test_a_cookie_of_another_version_names_nobody() -> None:
    gate = Gate(KEY)
    assert gate.learner(gate._signer().sign("2.learner").decode()) is None
    assert gate.learner(gate._signer().sign("1.").decode()) is None


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites() -> None:
    cookie = Gate(KEY, ("https://learn.example",)).cookie("x")
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Strict", True)
    assert Gate(KEY).cookie("x")["secure"] is False


def test_hosts_by_number_and_localhost_are_served_and_strange_names_are_not() -> None:
    gate = Gate(KEY, ("https://learn.example",), ("0.0.0.0", "box.local"))  # noqa: S104 - a host that an operator gives
    for host in ("127.0.0.1:8080", "localhost", "[::1]:9", "192.168.1.5", "learn.example", "box.local:8080"):
        assert gate.host_allowed(host), host
    for host in ("evil.example", "127.0.0.1.evil.example", "learn.example.evil", "", "[::1", "a b"):
        assert not gate.host_allowed(host), host


def test_a_conversation_opens_from_its_own_page_alone() -> None:
    gate = Gate(KEY, ("https://learn.example",))
    assert gate.origin_allowed("http://127.0.0.1:8080", "127.0.0.1:8080")
    assert gate.origin_allowed("https://learn.example", "10.0.0.7:8080")
    strange = [
        None,
        "",
        "null",
        "http://evil.example",
        "http://127.0.0.1:9090",
        "http://learn.example",
        "file://127.0.0.1:8080",
        "http://[",
        "http://\udcff",
    ]
    assert [gate.origin_allowed(origin, "127.0.0.1:8080") for origin in strange] == [False] * len(strange)
    assert not gate.origin_allowed("http://evil.example", "evil.example")


def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_burst_passes_at_once_and_what_follows_waits_in_step() -> None:
    pace = Pace(per_s=2.0, burst=3)
    assert [pace.delay(10.0) for _ in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    assert pace.delay(20.0) == 0.0

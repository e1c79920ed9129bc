"""The faults of a runner that are ours, never the learner's.

RunnerError
├── WireError        the other end broke the protocol or spoke another version
├── AuthError        the secret was refused
├── UnavailableError no runner answers at the address
├── JobRefusedError  the runner does not take such a job: ours to mend, `code` says why
├── WallMissingError a wall that matters is missing and was not accepted by name
└── SetupError       the learners' interpreter or a program is not there
"""


class RunnerError(Exception):
    """Any fault of the runner itself."""


class WireError(RunnerError):
    """The other end broke the protocol, or what arrived does not decode."""


class AuthError(RunnerError):
    """The runner refused the secret."""


class UnavailableError(RunnerError):
    """No runner answers at the address."""


class JobRefusedError(RunnerError):
    """The runner does not take a job: it is malformed, its id is another's, or its kind or device is not offered."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code


class WallMissingError(RunnerError):
    """A wall that matters is missing and was not accepted by name."""


class SetupError(RunnerError):
    """Something the runner needs (an interpreter, a program) is not there."""

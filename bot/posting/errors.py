"""How a call to a platform can fail, as far as it matters for trying again.

PostingError
├── NotSentError    certainly not taken (no connection): may be tried again
├── BusyError       certainly not taken: too fast; may be tried again after `wait_s`
├── UnsureError     nobody knows whether it was taken
├── GoneError       the chat takes nothing from us any more
├── MissingError    what was to be edited is not there any more
├── MovedError      the chat has another address now
└── RefusedError    never will be taken: our own fault
"""


class PostingError(Exception):
    """A call that did not succeed."""


class NotSentError(PostingError):
    """No connection; the platform saw nothing of it."""


class BusyError(PostingError):
    """Too many calls; `wait_s` seconds are to be waited in this chat."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"to be tried again in {wait_s} s")
        self.wait_s = wait_s


class UnsureError(PostingError):
    """The answer did not come, or says nothing."""


class GoneError(PostingError):
    """Blocked, left, deactivated, deleted."""


class MissingError(PostingError):
    """The part that was meant is not there any more, or cannot be changed any more."""


class MovedError(PostingError):
    """The chat moved to the address `new`."""

    def __init__(self, new: str) -> None:
        super().__init__(f"moved to {new}")
        self.new = new


class RefusedError(PostingError):
    """The platform finds a fault in the call."""

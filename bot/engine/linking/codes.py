"""The codes that join accounts: made of a fresh identity, shown so that they can be typed, read as they are typed.

Law: a code has ten characters of 33, some fifty bits: at five wrong guesses an hour nobody meets one by chance, however
many accounts they make.
"""

import re

from bot.engine.letters import plain_digits, stripped

LENGTH = 10
_HALF = LENGTH // 2
_ALIKE = str.maketrans({"o": "0", "l": "1", "i": "1"})
"""Letters that are taken for figures."""
_TYPED = re.compile(rf"[a-z0-9]{{{_HALF}}}[ _-]?[a-z0-9]{{{_HALF}}}")


def made(identity: str) -> str:
    """Make a code of an identity, which is random and fresh."""
    return identity[-LENGTH:].translate(_ALIKE)


def shown(code: str) -> str:
    """Write a code so that it can be read out and typed: `7K2MQ-9XW4T`."""
    return f"{code[:_HALF]}-{code[_HALF:]}".upper()


def read(text: str) -> str:
    """Read a code as it was typed or pasted; empty when the text is none."""
    typed = plain_digits(stripped(text)).strip().strip("`").casefold()
    if _TYPED.fullmatch(typed) is None:
        return ""
    return re.sub("[ _-]", "", typed).translate(_ALIKE)

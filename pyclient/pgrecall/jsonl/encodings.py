"""Files in UTF-16 and UTF-32 as UTF-8, if a byte order mark says so."""

from __future__ import annotations

import codecs
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, BinaryIO

from pgrecall.errors import InvalidInput
from pgrecall.files import refuse_compressed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["NOT_UTF8", "as_utf8"]

_CHUNK = 2**16
# The mark of UTF-16 is the beginning of that of UTF-32.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, None),
)

NOT_UTF8 = "Convert it: `iconv -f cp1252 -t utf-8 FILE > NEW`; the encoding may be another one than cp1252."


def as_utf8(file: BufferedReader) -> BufferedReader:
    """Return the file without its byte order mark, decoded if the mark names another encoding than UTF-8.

    Raises:
        InvalidInput: It is in UTF-16 without a mark, or compressed.
    """
    refuse_compressed(file)
    beginning = file.peek(4)[:4]
    for mark, encoding in _MARKS:
        if beginning.startswith(mark):
            file.read(len(mark))
            return file if encoding is None else BufferedReader(_Decoded(file, encoding))
    if len(beginning) >= 2 and (beginning[0] == 0) != (beginning[1] == 0):
        name = "utf-16be" if beginning[0] == 0 else "utf-16le"
        raise InvalidInput(
            "the file is not UTF-8: it looks like UTF-16",
            hint=f"Convert it: iconv -f {name} -t utf-8 FILE > NEW.",
        )
    return file


class _Decoded(RawIOBase):
    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        while not self._left:
            read = self._file.read(_CHUNK)
            try:
                self._left = self._decoder.decode(read, final=not read).encode()
            except UnicodeError:
                raise InvalidInput(
                    f"the file begins as {self._encoding.upper()} and goes on otherwise", hint="Is it whole?"
                ) from None
            if not read:
                break
        number = min(len(view), len(self._left))
        view[:number] = self._left[:number]
        self._left = self._left[number:]
        return number

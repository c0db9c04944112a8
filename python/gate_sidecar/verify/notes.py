"""Checkpoints: signed notes in the form of a tlog-checkpoint without extension lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

from . import ed25519
from .forms import (
    HASH_BYTES,
    MAX_INTEGER,
    Refused,
    decode_base64,
    decode_bytes,
    require,
    require_chain,
    require_origin,
    require_text,
)

MAX_NOTE_BYTES = 16 * 1024
MAX_SIGNATURE_LINES = 16
SIGNATURE_TYPE_ED25519 = b"\x01"
KEY_ID_BYTES = 4

_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_KEY_NAME = re.compile(r"[!-*,-~]+")


@dataclass(frozen=True)
class NoteSignature:
    """A signature line: the name of the key, and what its base64 has."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True)
class Note:
    """A checkpoint. `text` is what is signed: the first three lines."""

    text: str
    origin: str
    chain: str
    size: int
    root: bytes
    signatures: tuple[NoteSignature, ...]


def key_id(origin: str, public_key: bytes) -> bytes:
    """Return the keyId of a log key."""
    name = origin.encode("utf-8") + b"\n"
    return hashlib.sha256(name + SIGNATURE_TYPE_ED25519 + public_key).digest()[:KEY_ID_BYTES]


def parse_note(note: Any) -> Note:
    """Parse a checkpoint ("Checkpoints")."""
    require_text(note, "the checkpoint")
    require(len(note.encode("utf-8")) <= MAX_NOTE_BYTES, "the checkpoint has over 16 KiB")
    lines = note.split("\n")
    require(
        len(lines) >= 6 and lines[3] == "" and lines[-1] == "",
        "the checkpoint is not a note with three lines and signatures",
    )
    signature_lines = lines[4:-1]
    require(len(signature_lines) <= MAX_SIGNATURE_LINES, "the checkpoint has over 16 signatures")
    log, size, root = lines[:3]
    origin, _, chain = log.partition("/")
    require_origin(origin, "the origin of the checkpoint")
    require_chain(chain, "the chain of the checkpoint")
    require(
        _SIZE.fullmatch(size) is not None and int(size) <= MAX_INTEGER,
        "the size of the checkpoint is not a decimal number",
    )
    return Note(
        text=f"{log}\n{size}\n{root}\n",
        origin=origin,
        chain=chain,
        size=int(size),
        root=decode_bytes(root, HASH_BYTES, "the root of the checkpoint"),
        signatures=tuple(_parse_signature(line) for line in signature_lines),
    )


def _parse_signature(line: str) -> NoteSignature:
    """Parse a signature line: U+2014, the name, base64 of keyId and signature."""
    parts = line.split(" ")
    is_one = len(parts) == 3 and parts[0] == "\u2014"
    require(is_one, "a signature line does not have the right form")
    name = parts[1]
    require(_KEY_NAME.fullmatch(name) is not None, "a signature line has a wrong name")
    data = decode_base64(parts[2], "a signature of the checkpoint")
    require(len(data) > KEY_ID_BYTES, "a signature of the checkpoint is too short")
    return NoteSignature(name, data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])


def find_signers(note: Note, origin: str, public_keys: Iterable[bytes]) -> list[bytes]:
    """Return those of the keys that signed the note.

    Signature lines of other keys are ignored. One that is of these keys must verify.
    """
    keys = list(public_keys)
    signers = []
    for line in note.signatures:
        if line.name != origin:
            continue
        named = [key for key in keys if key_id(origin, key) == line.key_id]
        verified = [
            key for key in named if ed25519.verify(key, note.text.encode("utf-8"), line.signature)
        ]
        require(bool(verified) or not named, "a signature of the checkpoint is not good")
        signers.extend(verified)
    return signers


def find_signer(note: Note, origin: str, public_keys: Iterable[bytes]) -> Optional[bytes]:
    """Return the trusted log key that signed the note: of several, that of the first line."""
    if note.origin != origin:
        return None
    try:
        return next(iter(find_signers(note, origin, public_keys)), None)
    except Refused:
        return None

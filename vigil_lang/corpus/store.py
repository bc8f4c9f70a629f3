"""A store: the events of recordings, abstracted once, as Parquet files and a manifest.

A part holds the runs of some recordings, and is named by a digest of their paths and contents and of all that decides
how they are read. So a part that is there is complete and right: work that was interrupted goes on where it stopped,
new recordings cost only themselves, and the same recordings make the same store, byte for byte, whatever happened
before. Which recordings share a part is decided by their contents as well, so that one more does not move all others.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec
import polars as pl

from vigil_lang.base.outputs import replacing
from vigil_lang.base.resources import resource
from vigil_lang.corpus.batch import RUNS, Batch, Needs, Unreadable
from vigil_lang.corpus.recordings import abstracted, begin_worker, content_digest, workers
from vigil_lang.engines.columnar.events import COLUMNS, traces_of
from vigil_lang.trace import Run, Trace
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vigil_lang.corpus.reading import Reading

MANIFEST: Final = "manifest.json"
MARKER: Final = "VIGIL_STORE"
SCHEMA: Final = "vigil.store/1"
_HALF: Final = ".vigil-"
"""How the names of files begin that are being written (`base/outputs.py`)."""
_PART_BYTES: Final = 32 << 20
_CUT_BYTES: Final = 4 << 20
_PART_FILES: Final = 2_000
Outputs: TypeAlias = Literal["keep", "digest"]


class NoStore(Exception):
    """A folder is no store, or one that is not complete; the message says which, in words."""


@dataclass(frozen=True)
class Made:
    """What came of making a store: the runs and events that it has, parts made now, and what could not be read."""

    runs: int
    events: int
    made: int
    kept: int
    bad: tuple[Unreadable, ...]


class Manifest(msgspec.Struct, frozen=True):
    """What a store was made of and how; equal recordings and settings give equal manifests."""

    schema: str
    reader: str
    catalogue: str
    settings: dict[str, Any]
    outputs: Outputs
    runs: int
    events: int
    parts: list[str]
    unreadable: list[tuple[str, str]]


def is_store(path: str) -> bool:
    """Whether a folder is, or is to be, a store."""
    return Path(path, MARKER).is_file()


def make_store(
    folder: str,
    paths: Sequence[str],
    reading: Reading,
    *,
    outputs: Outputs = "keep",
    jobs: int | None = None,
    told: Callable[[int, int], object] = lambda *_: None,
) -> Made:
    """Make a store, or bring one up to date; `told` hears how many bytes of all are done.

    Raises:
        NoStore: there is a folder with other things in it.
        InputError: VGL004, it cannot be written.
    """
    place = Path(folder)
    parts = place / "parts"
    if place.exists() and not is_store(folder) and not _is_empty(place):
        raise NoStore(f"`{folder}` is there, and is no store")
    place.mkdir(parents=True, exist_ok=True)
    _write(place / MARKER, b"The events of agent runs, for `vigil scan`.\n")  # before all else: it says whose this is
    parts.mkdir(exist_ok=True)
    settings = _settings(reading)
    basis = _digest([SCHEMA, reader_digest(), catalogue_digest(), settings, outputs, pl.__version__])
    groups = _parted([(path, content_digest(path), _size(path)) for path in paths])
    names = [_digest([basis, [(path, content) for path, content, _ in group]])[:32] for group in groups]
    total = sum(size for group in groups for _, _, size in group) or 1
    done = made = 0
    waiting = []
    for name, group in zip(names, groups, strict=True):
        if _is_there(parts, name):
            done += sum(size for _, _, size in group)
        else:
            waiting.append((name, [path for path, _, _ in group], sum(size for _, _, size in group)))
    told(done, total)
    with workers(sum(size for *_, size in waiting), jobs, begin_worker) as pool:
        work = [(str(parts), name, of, reading, outputs) for name, of, _ in waiting]
        found = map(_make, work) if pool is None else pool.map(_make, work)
        for (*_, size), _ in zip(waiting, found, strict=True):
            made += 1
            done += size
            told(done, total)
    known = [pl.read_parquet(parts / f"{name}.runs.parquet") for name in names]
    bad = [Unreadable(path, why) for runs in known for path, why in _wrong(runs)]
    good = [runs.filter(pl.col("error").is_null()) for runs in known]
    manifest = Manifest(
        SCHEMA,
        reader_digest(),
        catalogue_digest(),
        settings,
        outputs,
        sum(runs.height for runs in good),
        sum(int(runs["events"].sum()) for runs in good),
        names,
        [(path, why) for path, why in bad],
    )
    _write(place / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    wanted = {f"{name}{end}" for name in names for end in (".parquet", ".runs.parquet")}
    for file in parts.iterdir():
        if file.name not in wanted:
            with suppress(OSError):
                file.unlink()
    for file in place.glob(f"{_HALF}*"):  # what a process that was killed was writing
        with suppress(OSError):
            file.unlink()
    return Made(manifest.runs, manifest.events, made, len(names) - made, tuple(bad))


def _is_empty(place: Path) -> bool:
    """Whether a folder has nothing in it but what a process that was killed was writing."""
    return place.is_dir() and all(file.name.startswith(_HALF) for file in place.iterdir())


def _is_there(parts: Path, name: str) -> bool:
    return (parts / f"{name}.parquet").is_file() and (parts / f"{name}.runs.parquet").is_file()


def _make(work: tuple[str, str, list[str], Reading, Outputs]) -> None:
    """Make one part. Its runs are written first: a part is complete where its events are."""
    folder, name, paths, reading, outputs = work
    batch = abstracted(paths, reading)
    frame = batch.frame
    digests = [None if text is None else _text_digest(text) for text in frame["output"]]
    frame = frame.with_columns(pl.Series("output_digest", digests, dtype=pl.String))
    if outputs == "digest":
        frame = frame.with_columns(pl.lit(None, pl.String).alias("output"))
    bad = pl.DataFrame(
        {"path": [b.path for b in batch.bad], "error": [b.why for b in batch.bad]},
        schema={"path": pl.String, "error": pl.String},
    )
    runs = pl.concat([batch.runs.with_columns(pl.lit(None, pl.String).alias("error")), bad], how="diagonal")
    for part, end in ((runs, ".runs.parquet"), (frame, ".parquet")):
        with replacing(os.path.join(folder, name + end)) as stream:  # noqa: PTH118 - a text
            part.write_parquet(stream, compression="zstd", compression_level=3, statistics=False)


def _wrong(runs: pl.DataFrame) -> list[tuple[str, str]]:
    return runs.filter(pl.col("error").is_not_null()).select("path", "error").rows()


def _parted(found: Sequence[tuple[str, str, int]]) -> list[list[tuple[str, str, int]]]:
    """Recordings in order, cut where a part is large enough and the content of one says so, or where it is full."""
    groups: list[list[tuple[str, str, int]]] = []
    size = 0
    for one in found:
        if not groups or size >= _PART_BYTES or len(groups[-1]) >= _PART_FILES:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += one[2]
        if size >= _CUT_BYTES and one[1][-1] in "048c":
            size = _PART_BYTES
    return groups


def _write(path: Path, data: bytes) -> None:
    with suppress(OSError):
        if path.read_bytes() == data:
            return
    with replacing(str(path)) as stream:
        stream.write(data)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _settings(reading: Reading) -> dict[str, Any]:
    found = msgspec.to_builtins(reading, str_keys=True, enc_hook=repr)
    assert isinstance(found, dict)
    if reading.skills is not None:  # scripts that runs call are read from there
        found["skills_digest"] = _tree_digest(reading.skills)
    return found


def _digest(of: object) -> str:
    return hashlib.sha256(msgspec.json.encode(of, order="deterministic")).hexdigest()


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def reader_digest() -> str:
    """A digest of the code that makes events of recordings."""
    root = resource("lint").parent
    folders = ("ingest", "abstraction", "trace", "engines/columnar", "corpus")
    return _digest([__version__, *(_tree_digest(str(root / folder)) for folder in folders)])


@cache
def catalogue_digest() -> str:
    """A digest of what is known of tools, programs and libraries."""
    return _tree_digest(str(resource("stdlib")))


def _tree_digest(folder: str) -> str:
    found = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(folder)}\0{content_digest(str(path))}\n".encode())
    return found.hexdigest()


# --- reading -------------------------------------------------------------------------------------------------------


class Store:
    """A store as a source."""

    def __init__(self, folder: str) -> None:
        """Raises NoStore where it is none, or was never finished."""
        self.folder = os.path.abspath(folder)  # noqa: PTH100 - a text
        self._folder = Path(folder)
        try:
            data = (self._folder / MANIFEST).read_bytes()
        except OSError:
            raise NoStore(f"`{folder}` is a store that was not finished: run `vigil abstract` again") from None
        try:
            self.manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.DecodeError, UnicodeError):
            raise NoStore(f"the manifest of `{folder}` cannot be read") from None
        if self.manifest.schema != SCHEMA or any(not name.isalnum() for name in self.manifest.parts):
            raise NoStore(f"`{folder}` is no store of the form `{SCHEMA}`")

    def __len__(self) -> int:
        return len(self.manifest.parts)

    @property
    def without_outputs(self) -> bool:
        """Whether it has digests in place of outputs, so that no policy can test these."""
        return self.manifest.outputs == "digest"

    def batches(self, needs: Needs) -> Iterator[Batch]:
        """All runs, part by part."""
        for at in range(len(self)):
            yield self.part(at, needs)

    def part(self, at: int, needs: Needs) -> Batch:
        """The runs of one part; the columns that nobody needs are not read."""
        name = self.manifest.parts[at]
        columns = [c for c in COLUMNS if c not in ("output", "args") or (needs.output if c == "output" else needs.args)]
        frame = self._read(f"{name}.parquet", columns)
        missing = [pl.lit(None, COLUMNS[c]).alias(c) for c in COLUMNS if c not in columns]
        runs, bad = self._runs(name)
        return Batch(frame.with_columns(missing).select(list(COLUMNS)), runs, tuple(Unreadable(*row) for row in bad))

    def runs(self) -> Iterator[tuple[pl.DataFrame, list[tuple[str, str]]]]:
        """The runs of each part, and what could not be read."""
        for name in self.manifest.parts:
            yield self._runs(name)

    def _runs(self, name: str) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
        found = self._read(f"{name}.runs.parquet", None)
        return found.filter(pl.col("error").is_null()).select(list(RUNS)), _wrong(found)

    def _read(self, name: str, columns: list[str] | None) -> pl.DataFrame:
        try:
            return pl.read_parquet(self._folder / "parts" / name, columns=columns)
        except (OSError, pl.exceptions.PolarsError):
            raise NoStore(f"part `{name}` of `{self._folder}` cannot be read: run `vigil abstract` again") from None

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """One run, read back."""
        for name in self.manifest.parts:
            runs = self._read(f"{name}.runs.parquet", None).filter(
                (pl.col("path") == run["path"]) & pl.col("error").is_null()
            )
            if runs.height:
                number = runs["run"][0]
                frame = pl.scan_parquet(self._folder / "parts" / f"{name}.parquet").filter(pl.col("run") == number)
                return _trace(frame.collect(), run)
        raise AssertionError(run["path"])


def _trace(frame: pl.DataFrame, run: Mapping[str, Any]) -> Trace:
    about = tuple((entry["key"], entry["value"]) for entry in run["about"] or ())
    of = Run(run["path"], run["format"], run["name"], run["source"], run["cwd"], about=about)
    found = traces_of(frame, [of])
    return found[0] if found else Trace((), of)

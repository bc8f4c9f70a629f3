"""One sync of a file for all threads that wait for it: nobody is answered before what he wrote is on disk."""

from __future__ import annotations

import os
import threading


class SharedSync:
    """Has what was appended to a file, by its descriptor, on disk."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._changed = threading.Condition()
        self._is_syncing = False
        self._on_disk = 0
        self._end = 0
        self._failures = 0
        self._first: int | None = None
        self.failed: OSError | None = None
        """Why a sync failed, after which nobody knows what is on disk; until all of it was written again."""

    def appending(self, place: int) -> None:
        """Something is appended at a place, which is the end of the file."""
        if self._first is None:
            self._first = place

    def appended(self, end: int) -> None:
        """The file is written up to a place, by this process."""
        self._end = end

    @property
    def doubtful_from(self) -> int:
        """The place in the file from which on nobody knows what is on disk, of what this process appended."""
        return self._on_disk or self._first or 0

    def upto(self, place: int) -> None:
        """Wait until the file is on disk up to a place: by a sync that another thread makes, or by one's own.

        Raises:
            OSError: a sync failed, this thread's or the one that it waited for.
        """
        with self._changed:
            failures = self._failures
            while self._on_disk < place:
                if self.failed is not None:
                    raise OSError(self.failed.errno, self.failed.strerror)
                if self._failures != failures:
                    raise OSError(0, "it could not be synced")
                if not self._is_syncing:
                    break
                self._changed.wait()
            else:
                return
            self._is_syncing = True
        error: OSError | None = OSError(0, "it could not be synced")
        end = max(self._end, place)
        try:
            os.fdatasync(self._file)
            error = None
        except OSError as raised:
            error = raised
            raise
        finally:
            with self._changed:
                self._is_syncing = False
                if error is None:
                    self._on_disk = max(self._on_disk, end)
                else:
                    self._failures += 1
                    self.failed = error
                self._changed.notify_all()

    def written_again(self, end: int) -> None:
        """All up to a place was written again, and is on disk."""
        with self._changed:
            self.failed, self._on_disk = None, end
            self._changed.notify_all()

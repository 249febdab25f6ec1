"""Records on disk: complete or absent, never silently wrong."""

import errno
import os
from math import isnan

import pytest

from skh.reproduction.engine.record import Record
from skh.reproduction.engine.results import Results, archive, load
from skh.reproduction.engine.store import Store, StoreError, write_atomically
from skh.reproduction.engine.task import Task

RECORD = Record(experiment="mixture", model="m", rule="r", n=3, batch=0, seed=7, rmse=0.1 + 0.2)
TASK = Task("mixture", ("a", 1), 0)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "mixture")
    store.open({"code": "1"}, tasks=2, machine={})
    store.write(TASK, [RECORD, RECORD], 1.5)
    return store


def test_records_come_back_exactly(store):
    first, _ = store.read()
    assert first.rmse == RECORD.rmse
    assert isnan(first.mmd)
    assert repr(first) == repr(RECORD)
    assert store.keys() == {"a_1_000"}
    assert store.seconds() == 1.5


@pytest.mark.parametrize("kept", [0, 10, 65, 100, -2])
def test_a_truncated_file_is_reported_and_left_unchanged(store, kept):
    path = next((store.folder / "tasks").iterdir())
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with pytest.raises(StoreError, match=r"a_1_000.json is damaged .* Delete this file"):
        store.read()
    assert path.read_bytes() == whole[:kept]


def test_an_edited_file_is_reported(store):
    path = next((store.folder / "tasks").iterdir())
    path.write_text(path.read_text().replace("0.3", "0.2"))
    with pytest.raises(StoreError, match="damaged"):
        store.read()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match="cannot be read"):
        store.read()


def test_a_damaged_or_missing_manifest_is_reported(store):
    manifest = store.folder / "manifest.json"
    manifest.write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        store.open({"code": "1"})
    manifest.unlink()
    with pytest.raises(StoreError, match="is missing"):
        store.open({"code": "1"})
    assert len(store.read()) == 2


def test_a_full_disk_loses_the_running_task_only(store, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"No space left.*the same command continues"):
            store.write(Task("mixture", ("b",), 1), [RECORD], 1.0)
    assert len(store.read()) == 2
    assert len(list((store.folder / "tasks").iterdir())) == 1
    store.write(Task("mixture", ("b",), 1), [RECORD], 1.0)
    assert len(store.read()) == 3


def test_left_over_temporary_files_are_removed(store):
    left = store.folder / "tasks" / "x.json.1.tmp"
    left.write_text("half")
    store.open({"code": "1"})
    assert not left.exists()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to"):
        Store(tmp_path / "file" / "mixture").open({})


def test_a_file_is_replaced_atomically(tmp_path):
    write_atomically(tmp_path / "a", "one")
    write_atomically(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_text() == "two"


def test_an_archive_holds_the_same_records(tmp_path):
    known = {"fingerprint": {}, "machine": {}, "tasks": 1, "finished": 1, "seconds": 2.0}
    archive(tmp_path, {"mixture": Results([RECORD], **known)})
    first = (tmp_path / "records.csv.gz").read_bytes()
    found = load(tmp_path, ["mixture", "other"])
    assert [repr(r) for r in found["mixture"].records] == [repr(RECORD)]
    assert found["mixture"].complete
    archive(tmp_path, found)
    assert (tmp_path / "records.csv.gz").read_bytes() == first
    (tmp_path / "records.csv.gz").write_bytes(first[: len(first) // 2])
    with pytest.raises(StoreError, match="damaged"):
        load(tmp_path, ["mixture"])


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks")
def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with Store(tmp_path).alone(), pytest.raises(StoreError, match="another process is running"):
        Store(tmp_path).alone().__enter__()
    with Store(tmp_path).alone():
        pass

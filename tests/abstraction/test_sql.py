"""What statements of SQL do, to whomever they are handed."""

from __future__ import annotations

import shlex

import pytest
from abstraction_support import abstracted, bash, ok

from vigil_lang.abstraction import sql
from vigil_lang.trace.unseen import is_wholly_seen

_CHANGES = r"""
WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
-- x\nDELETE FROM t
/* x */ DROP TABLE t
/*!50000 DROP TABLE t */
DO $$begin delete from t; end$$
CALL p()
PREPARE q AS DELETE FROM t
EXECUTE q
EXPLAIN ANALYZE DELETE FROM t
EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t
SELECT * INTO new FROM t
REFRESH MATERIALIZED VIEW v
SELECT setval('s', 1)
SELECT lo_unlink(1)
SELECT dblink_exec('x','y')
select pg_catalog.pg_terminate_backend(1)
PRAGMA writable_schema=1
select 1; delete from t
select 'a\'; delete from t; --'
SELECT 1--1; DELETE FROM t
(delete from t)
SET GLOBAL x=1
COPY t FROM STDIN
flushall
begin; update t set a=1; commit
values(1); truncate t
EXPLAIN ANALYZE WITH d AS (DELETE FROM t RETURNING 1) SELECT 1
SELECT 1 INTO "new" FROM t
MERGE INTO t USING s ON 1=1
begin not atomic delete from t; end
""".strip().splitlines()

_LOOKS = r"""
select 1
SELECT count(*) FROM t WHERE a='delete from t'
select * from t for update
select * from t for no key update skip locked
EXPLAIN DELETE FROM t
EXPLAIN QUERY PLAN DELETE FROM t
PRAGMA table_info(t)
PRAGMA foreign_keys = ON
with x(a,b) as (select 1,2) select * from x
with x as (select 1), y(b) as (select 2) select coalesce(max(b),0) from y
show databases
select replace(a,'x','y') from t
select "update" from t
select date_trunc('day', now()) from t group by 1 having count(*) > 1
COPY t TO STDOUT
select cast(a as varchar(10)) from t where b in (1,2)
select a from t as u(a)
SELECT json_extract(a,'$.b') FROM t; -- drop it
begin
set search_path to x
\dt
desc t
from t select a
SELECT row_number() over (partition by a order by b) from t
PREPARE q AS SELECT 1
select pg_size_pretty(pg_total_relation_size('t'))
select * from t where d > now() - interval '1 day'
select a from (values (1),(2)) v(a)
select distinct on (a) b from t
""".strip().splitlines()

_UNKNOWN = r"""
select f_delete_all()
select public.cleanup(1)
with x as (select purge_all()) select 1
select "f"(1)
select x.now()
explain analyze select f_delete_all()
""".strip().splitlines()


def _handed(statement: str) -> list[tuple[str, ...]]:
    """The kinds of a statement's event as psql, sqlite3, mysql and Python's cursors are given it."""
    found: list[tuple[str, ...]] = []
    commands = [f"psql -c {shlex.quote(statement)}", f"sqlite3 a.db {shlex.quote(statement)}"]
    commands += [f"mysql -e {shlex.quote(statement)}", f"psql <<'E'\n{statement}\nE"]
    code = f"import sqlite3; sqlite3.connect('a.db').execute({statement!r})"
    for command in (*commands, f"python3 - <<'E'\n{code}\nE"):
        events = abstracted([bash("t", command), ok("t")])
        found.append(next(event.kinds for event in events if "db.query" in event.kinds))
    return found


@pytest.mark.parametrize("statement", _CHANGES)
def test_what_changes_a_database_is_a_write_whoever_hands_it_over(statement: str) -> None:
    statement = statement.replace("\\n", "\n")
    assert all("db.write" in kinds for kinds in _handed(statement))
    for around in (f"SELECT 1; {statement}", f"-- a\n{statement}", f"/* a */ {statement}", f"\n ; {statement.lower()}"):
        assert sql.changes(around)


@pytest.mark.parametrize("statement", [each for each in _LOOKS if each[0] != "\\"])
def test_what_only_looks_is_none(statement: str) -> None:
    assert all("db.write" not in kinds for kinds in _handed(statement))
    assert sql.changes(f"{statement};\n-- DELETE FROM t\n") is False
    assert not sql.calls_unknown(statement)


@pytest.mark.parametrize("statement", _UNKNOWN)
@pytest.mark.parametrize("before", ["psql -c ", "sqlite3 a.db ", "mysql -e "])
def test_a_function_of_which_nothing_is_known_may_do_anything(before: str, statement: str) -> None:
    (call, *_) = abstracted([bash("t", before + shlex.quote(statement)), ok("t")])
    assert not is_wholly_seen(call)


@pytest.mark.parametrize("part", ["'", "/*", "$a$", "(", "a(", "x.a(", "--", "-- ", "\\", "f,", "$", "${", '"', ", x("])
def test_a_long_text_is_read_in_time_that_grows_with_it(part: str) -> None:
    assert sql.changes("select " + part * 30_000) in (True, False, None)
    sql.calls_unknown("select " + part * 30_000)

-- The log and what belongs to it: what a state folder has in files (docs/postgres.md). Entries are only ever inserted.

CREATE TABLE gate_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    identity uuid NOT NULL DEFAULT gen_random_uuid(),
    origin text,
    entries bigint NOT NULL,
    bytes bigint NOT NULL
) WITH (fillfactor = 20);

INSERT INTO gate_head (entries, bytes) VALUES (0, 0);

CREATE TABLE gate_log (
    seq bigint PRIMARY KEY,
    start bigint NOT NULL UNIQUE,
    line bytea NOT NULL
);

CREATE TABLE gate_checkpoint (
    size bigint PRIMARY KEY,
    note bytea NOT NULL
);

CREATE TABLE gate_plain (
    seq bigint NOT NULL,
    path text NOT NULL,
    salt bytea NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (seq, path)
);

CREATE TABLE gate_bundle (
    digest text PRIMARY KEY,
    data bytea NOT NULL
);

-- The revocation list and the secrets that nodes share, each with the number of its last change.
CREATE TABLE gate_value (
    name text PRIMARY KEY,
    version bigint NOT NULL,
    data bytea NOT NULL
);

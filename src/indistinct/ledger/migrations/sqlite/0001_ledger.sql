-- A chain of rows that are never changed, and the balances that follow from them.

CREATE TABLE entry (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    kind   TEXT NOT NULL
           CHECK (kind IN ('ledger', 'budget', 'grant', 'reserve', 'start', 'charge', 'release', 'fail', 'void')),
    charge INTEGER REFERENCES entry (number) CHECK ((charge IS NULL) = (kind NOT IN ('start', 'release', 'fail', 'void'))),
    key    TEXT CHECK ((key IS NULL) = (kind NOT IN ('reserve', 'charge'))),
    time   INTEGER NOT NULL,
    text   TEXT NOT NULL,
    answer BLOB CHECK ((answer IS NULL) = (kind <> 'release')),
    hash   BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE UNIQUE INDEX entry_key ON entry (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_started ON entry (charge) WHERE kind IN ('start', 'void');
CREATE UNIQUE INDEX entry_answered ON entry (charge) WHERE kind IN ('release', 'fail');
CREATE INDEX entry_budget ON entry (number) WHERE kind IN ('ledger', 'budget', 'grant');

CREATE TABLE balance (
    budget  TEXT NOT NULL,
    part    TEXT NOT NULL,
    period  INTEGER NOT NULL,
    account TEXT NOT NULL,
    cap     INTEGER NOT NULL,
    spent   INTEGER NOT NULL CHECK (0 <= spent AND spent <= cap),
    entry   INTEGER NOT NULL REFERENCES entry (number),
    PRIMARY KEY (budget, part, period, account)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entry_is_not_updated BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'a row of a ledger is never changed'); END;

CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'a row of a ledger is never deleted'); END;

CREATE TRIGGER entry_is_next BEFORE INSERT ON entry
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM entry)
BEGIN SELECT RAISE(ABORT, 'a row of a ledger follows the last one'); END;

CREATE TRIGGER entry_starts BEFORE INSERT ON entry
WHEN NEW.kind IN ('start', 'void') AND (SELECT kind FROM entry WHERE number = NEW.charge) IS NOT 'reserve'
BEGIN SELECT RAISE(ABORT, 'only what was reserved starts or is given back'); END;

CREATE TRIGGER entry_ends BEFORE INSERT ON entry
WHEN NEW.kind IN ('release', 'fail') AND NOT EXISTS (
    SELECT 1 FROM entry WHERE number = NEW.charge AND kind = 'charge'
    UNION ALL SELECT 1 FROM entry WHERE charge = NEW.charge AND kind = 'start')
BEGIN SELECT RAISE(ABORT, 'only what has started ends'); END;

CREATE TRIGGER balance_is_not_deleted BEFORE DELETE ON balance
BEGIN SELECT RAISE(ABORT, 'a balance of a ledger is never deleted'); END;

CREATE TRIGGER balance_moves_on BEFORE UPDATE ON balance
WHEN NEW.entry <= OLD.entry OR NEW.cap < OLD.cap
  OR (NEW.budget, NEW.part, NEW.period, NEW.account) IS NOT (OLD.budget, OLD.part, OLD.period, OLD.account)
BEGIN SELECT RAISE(ABORT, 'a balance of a ledger follows from a new row'); END;

-- A chain of rows that are never changed, and the balances that follow from them.

CREATE SCHEMA indistinct_ledger;

-- One row, which every writer locks: so writers come one after the other, whichever host they are on.
CREATE TABLE indistinct_ledger.version (
    one    BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    format INTEGER NOT NULL
);
INSERT INTO indistinct_ledger.version (format) VALUES (2);

CREATE TABLE indistinct_ledger.entry (
    number BIGINT PRIMARY KEY CHECK (number > 0),
    kind   TEXT NOT NULL
           CHECK (kind IN ('ledger', 'budget', 'grant', 'reserve', 'start', 'charge', 'release', 'fail', 'void')),
    charge BIGINT REFERENCES indistinct_ledger.entry (number)
           CHECK ((charge IS NULL) = (kind NOT IN ('start', 'release', 'fail', 'void'))),
    key    TEXT CHECK ((key IS NULL) = (kind NOT IN ('reserve', 'charge'))),
    time   BIGINT NOT NULL,
    text   TEXT NOT NULL,
    answer BYTEA CHECK ((answer IS NULL) = (kind <> 'release')),
    hash   BYTEA NOT NULL CHECK (length(hash) = 32)
);

CREATE UNIQUE INDEX entry_key ON indistinct_ledger.entry (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_started ON indistinct_ledger.entry (charge) WHERE kind IN ('start', 'void');
CREATE UNIQUE INDEX entry_answered ON indistinct_ledger.entry (charge) WHERE kind IN ('release', 'fail');
CREATE INDEX entry_budget ON indistinct_ledger.entry (number) WHERE kind IN ('ledger', 'budget', 'grant');

CREATE TABLE indistinct_ledger.balance (
    budget  TEXT NOT NULL,
    part    TEXT NOT NULL,
    period  BIGINT NOT NULL,
    account TEXT NOT NULL,
    cap     BIGINT NOT NULL,
    spent   BIGINT NOT NULL CHECK (0 <= spent AND spent <= cap),
    entry   BIGINT NOT NULL REFERENCES indistinct_ledger.entry (number),
    PRIMARY KEY (budget, part, period, account)
);

CREATE FUNCTION indistinct_ledger.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of a ledger is never changed or deleted';
END $$;

CREATE FUNCTION indistinct_ledger.follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.kind IN ('start', 'void') AND NOT EXISTS (
        SELECT 1 FROM indistinct_ledger.entry WHERE number = NEW.charge AND kind = 'reserve')
    THEN
        RAISE EXCEPTION 'only what was reserved starts or is given back';
    END IF;
    IF NEW.kind IN ('release', 'fail') AND NOT EXISTS (
        SELECT 1 FROM indistinct_ledger.entry WHERE number = NEW.charge AND kind = 'charge'
        UNION ALL SELECT 1 FROM indistinct_ledger.entry WHERE charge = NEW.charge AND kind = 'start')
    THEN
        RAISE EXCEPTION 'only what has started ends';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION indistinct_ledger.move_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.entry <= OLD.entry OR NEW.cap < OLD.cap
       OR (NEW.budget, NEW.part, NEW.period, NEW.account) IS DISTINCT FROM (OLD.budget, OLD.part, OLD.period, OLD.account)
    THEN
        RAISE EXCEPTION 'a balance of a ledger follows from a new row';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON indistinct_ledger.entry
    FOR EACH STATEMENT EXECUTE FUNCTION indistinct_ledger.refuse();
CREATE TRIGGER entry_follows BEFORE INSERT ON indistinct_ledger.entry
    FOR EACH ROW WHEN (NEW.kind IN ('start', 'void', 'release', 'fail')) EXECUTE FUNCTION indistinct_ledger.follow();
CREATE TRIGGER balance_is_not_deleted BEFORE DELETE OR TRUNCATE ON indistinct_ledger.balance
    FOR EACH STATEMENT EXECUTE FUNCTION indistinct_ledger.refuse();
CREATE TRIGGER balance_moves_on BEFORE UPDATE ON indistinct_ledger.balance
    FOR EACH ROW EXECUTE FUNCTION indistinct_ledger.move_on();

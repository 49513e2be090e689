-- Currencies, and what one euro was worth in each of them.
CREATE TABLE currency_types (
  code    text COLLATE "C" PRIMARY KEY,
  label   text NOT NULL,
  enabled boolean NOT NULL DEFAULT true
);

-- The euro has no rows: it is what the others are measured in.
CREATE TABLE currency_rates (
  code  text COLLATE "C" NOT NULL,
  date  date NOT NULL,
  value numeric NOT NULL CHECK (value > 0),
  PRIMARY KEY (code, date)
);

CREATE INDEX currency_rates_by_date ON currency_rates (date);

-- What the provider said when it was asked for a date: the date whose rates it gave, which is an earlier one at
-- weekends; null when it has none.
CREATE TABLE currency_dates (
  date      date PRIMARY KEY,
  published date
);

-- Requests to the provider, by day of the machine's zone; counted before each is sent.
CREATE TABLE provider_requests (
  day  date PRIMARY KEY,
  used integer NOT NULL
);

-- The daily retrieval: which process took it, and whether it is done.
CREATE TABLE daily_retrievals (
  day        date PRIMARY KEY,
  claimed_at timestamptz NOT NULL,
  done_at    timestamptz
);

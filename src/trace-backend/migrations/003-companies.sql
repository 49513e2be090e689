-- Companies, and who acts for them.
CREATE TABLE companies (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status       text NOT NULL CHECK (status IN ('ACTIVE', 'DEACTIVATED')),
  name         text NOT NULL,
  abbreviation text,
  about        text,
  manager      text,
  web_page     text,
  email        text,
  address      text,
  city         text,
  state        text,
  zip          text,
  -- 1-based row of the ISO 3166-1 list.
  country_id   smallint,
  -- Storage key of an image.
  logo         text,
  -- Name and abbreviation as they are searched for and sorted by, and their tokens: docs/decisions/companies.md.
  folded       text COLLATE "C" NOT NULL,
  tokens       text[] COLLATE "C" NOT NULL,
  -- Counts the changes; what If-Match is compared with.
  version      integer NOT NULL DEFAULT 1,
  created_by   integer NOT NULL REFERENCES users,
  created_at   timestamptz NOT NULL
);

-- A folded name can be longer than an index takes; who sorts by name sees its beginning.
CREATE INDEX companies_by_name ON companies (left(folded, 100), id);
CREATE INDEX companies_by_status ON companies (status, id);
CREATE INDEX companies_by_status_and_name ON companies (status, left(folded, 100), id);
-- Without a list of pending entries, which every search would have to read through.
CREATE INDEX companies_by_token ON companies USING gin (tokens) WITH (fastupdate = off);

CREATE TABLE company_users (
  company_id integer NOT NULL REFERENCES companies,
  user_id    integer NOT NULL REFERENCES users,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  PRIMARY KEY (user_id, company_id)
);

CREATE INDEX company_users_by_company ON company_users (company_id, user_id);

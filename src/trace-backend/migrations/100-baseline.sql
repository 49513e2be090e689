-- The tables of the trace backend by group and feature, from the ground up (ARCHITECTURE.md); a table comes after those
-- that its rows refer to. The program provides the times in them, never the server's clock, so that one action
-- has one time in all tables.
--
-- Columns named version count the changes of a record; If-Match is compared with them. Columns named position are the
-- place in a list as it was sent.

-- === platform: files, callers, mails ===

-- Which file store holds this service's files: one row, as soon as it is known.
CREATE TABLE file_store (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  id          uuid NOT NULL,
  recorded_at timestamptz NOT NULL
);

-- Processes that serve, and until when each says that it does. A crash of the server empties this table and the next
-- two; each process then enters its places again.
CREATE UNLOGGED TABLE serving_processes (
  id    uuid PRIMARY KEY,
  until timestamptz NOT NULL
);

-- The places of a caller that are in use over all processes (uploads, exports of a user's data), and which process
-- holds each.
CREATE UNLOGGED TABLE caller_places (
  kind    text NOT NULL,
  caller  text NOT NULL,
  slot    integer NOT NULL,
  process uuid NOT NULL,
  PRIMARY KEY (kind, caller, slot)
);

-- Requests of an address to a route with its own limit, until the end of their time. After a crash of the server they
-- count from zero; failed logins of an account are counted in login_failures, which is logged.
CREATE UNLOGGED TABLE address_counts (
  route   text NOT NULL,
  address text NOT NULL,
  count   integer NOT NULL,
  until   timestamptz NOT NULL,
  PRIMARY KEY (route, address)
);

CREATE INDEX address_counts_by_end ON address_counts (until);

-- The last mail that was sent, and the last one that failed: one row each.
CREATE TABLE mail_outcomes (
  outcome text PRIMARY KEY CHECK (outcome IN ('sent', 'failed')),
  at      timestamptz NOT NULL,
  -- Why it failed, without addresses.
  error   text
);

-- === base: signing keys ===

-- The keys that sign access tokens. The newest one signs; earlier ones are published until the tokens that they signed
-- have expired.
CREATE TABLE signing_keys (
  kid         text PRIMARY KEY,
  private_key text NOT NULL,
  created_at  timestamptz NOT NULL
);

-- Secrets that the program made for itself at its first start. The previous service token is kept for a while as
-- SERVICE_TOKEN_BEFORE.
CREATE TABLE kept_secrets (
  name    text PRIMARY KEY,
  value   text NOT NULL,
  -- When it was made; for SERVICE_TOKEN_BEFORE, when it was replaced.
  made_at timestamptz
);

-- === base: audit ===

-- Every change of state: who, when, what, from which address. Append-only; it also names records that were removed.
CREATE TABLE audit (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at        timestamptz NOT NULL,
  -- The user who did it; null for the program itself and for people who are not logged in.
  user_id   integer,
  action    text NOT NULL,
  -- What was changed: the kind of record, and its id.
  entity    text NOT NULL,
  entity_id text NOT NULL,
  address   text NOT NULL,
  details   jsonb NOT NULL
);

CREATE INDEX audit_by_user ON audit (user_id, id);
CREATE INDEX audit_by_entity ON audit (entity, entity_id, id);
CREATE INDEX audit_by_action ON audit (action, id);
-- Finds what concerns a user without being about the account, such as a membership of a company.
CREATE INDEX audit_by_concerned ON audit ((details ->> 'userId'), id) WHERE (details ->> 'userId') IS NOT NULL;

REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM CURRENT_USER;

-- === identity ===

CREATE TABLE users (
  id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- As it was typed, for mails; email_key is the same address in the form by which accounts are looked up.
  email              text NOT NULL,
  email_key          text COLLATE "C" NOT NULL CONSTRAINT users_email_key UNIQUE,
  -- Argon2id in PHC string format.
  password           text NOT NULL,
  name               text NOT NULL,
  surname            text NOT NULL,
  language           text NOT NULL,
  status             text NOT NULL CHECK (status IN ('UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED')),
  role               text NOT NULL CHECK (role IN ('USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN')),
  discoverable       boolean NOT NULL DEFAULT false,
  -- Tokens contain the version under which they were made; a higher one in this column ends all of them.
  session_version    integer NOT NULL DEFAULT 1,
  created_at         timestamptz NOT NULL,
  -- Since when the account is being erased, and when it was. The row remains, without what it said about a person,
  -- because other tables refer to it.
  erasing_at         timestamptz,
  erased_at          timestamptz,
  -- Whether the password is still the one with which the program created the account: from the settings, a file or a
  -- terminal.
  has_first_password boolean NOT NULL DEFAULT false
);

-- Lists of users by their status and role, in the order of their ids.
CREATE INDEX users_by_status ON users (status, id);
CREATE INDEX users_by_role ON users (role, id);
CREATE INDEX users_erasing ON users (id) WHERE erasing_at IS NOT NULL AND erased_at IS NULL;

-- Attempts to log in during the last minutes. An account is named by the SHA-256 of what was typed, whether it exists
-- or not.
CREATE TABLE login_failures (
  account bytea NOT NULL,
  address text NOT NULL,
  at      timestamptz NOT NULL,
  -- An attempt is recorded before its result is known. If the process ends before that, or cannot answer, it is not a
  -- failure: it only counts as long as it could still be in progress.
  decided boolean NOT NULL DEFAULT true
);

CREATE INDEX login_failures_by_account ON login_failures (account, address, at);
CREATE INDEX login_failures_by_time ON login_failures (at);

-- Where users logged in from recently; an IPv6 address stands for its /64.
CREATE TABLE login_addresses (
  user_id integer NOT NULL REFERENCES users,
  address text NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (user_id, address)
);

-- One row for each login, until it ends: access tokens name it, refresh tokens belong to it.
CREATE TABLE sessions (
  id            uuid PRIMARY KEY,
  user_id       integer NOT NULL REFERENCES users,
  started_at    timestamptz NOT NULL,
  -- The login or the last refresh.
  last_used_at  timestamptz NOT NULL,
  -- Refreshing does not change it.
  expires_at    timestamptz NOT NULL,
  -- Where it was last used from, and by which program.
  address       text NOT NULL,
  user_agent    text NOT NULL,
  -- Whether the login proved a second factor.
  second_factor boolean NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (user_id, last_used_at);

CREATE TABLE refresh_tokens (
  hash            bytea PRIMARY KEY,
  user_id         integer NOT NULL REFERENCES users,
  session_version integer NOT NULL,
  expires_at      timestamptz NOT NULL,
  -- When it was exchanged for its successor.
  used_at         timestamptz,
  session_id      uuid NOT NULL CONSTRAINT refresh_tokens_session REFERENCES sessions ON DELETE CASCADE
);

CREATE INDEX refresh_tokens_by_user ON refresh_tokens (user_id, expires_at);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);

-- Second factors (RFC 6238). The secret is encrypted if SECRETS_KEY is set.
CREATE TABLE second_factors (
  user_id      integer PRIMARY KEY REFERENCES users,
  secret       text NOT NULL,
  -- It is required at login as soon as the user has shown a code of it.
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted: codes of this step and of earlier ones are refused.
  last_step    bigint NOT NULL
);

-- Codes for users who have lost their device, each valid once. Only the SHA-256 is kept.
CREATE TABLE recovery_codes (
  user_id integer NOT NULL REFERENCES users,
  hash    bytea NOT NULL,
  PRIMARY KEY (user_id, hash)
);

-- Keys for programs. Only the SHA-256 of a key is stored.
CREATE TABLE api_keys (
  id            uuid PRIMARY KEY,
  user_id       integer NOT NULL REFERENCES users,
  hash          bytea NOT NULL UNIQUE,
  name          text NOT NULL,
  scopes        text[] NOT NULL,
  -- Whether the session that created it had proved a second factor.
  second_factor boolean NOT NULL,
  created_at    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  -- To the minute; null before the first use.
  last_used_at  timestamptz
);

CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);

-- What a mailed link proves. Only the SHA-256 of the secret is kept.
CREATE TABLE mail_tokens (
  hash       bytea PRIMARY KEY,
  user_id    integer NOT NULL REFERENCES users,
  purpose    text NOT NULL
    CHECK (purpose IN ('CONFIRM_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL_OLD', 'CHANGE_EMAIL_NEW')),
  expires_at timestamptz NOT NULL
);

CREATE INDEX mail_tokens_by_user ON mail_tokens (user_id, purpose);

-- When a user was last sent a mail of a kind that anybody can request.
CREATE TABLE mail_requests (
  user_id integer NOT NULL REFERENCES users,
  purpose text NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (user_id, purpose)
);

-- A change of a user's address that waits until the links in mails to both addresses have been opened.
CREATE TABLE email_changes (
  user_id          integer PRIMARY KEY REFERENCES users,
  -- Names this request: mails of an earlier one are no longer sent.
  change_id        uuid NOT NULL,
  -- The new address as it was typed, and in the form by which accounts are looked up.
  email            text NOT NULL,
  email_key        text COLLATE "C" NOT NULL,
  old_confirmed_at timestamptz,
  new_confirmed_at timestamptz,
  expires_at       timestamptz NOT NULL
);

-- === identity: settings of front ends ===

-- Settings of the front end, by name.
CREATE TABLE global_settings (
  name      text PRIMARY KEY,
  value     text,
  -- Whether it can be read without a login.
  is_public boolean NOT NULL
);

-- === catalogue: images ===

-- Images, and documents, which are kept in the same way. Their bytes are in the file store, under
-- images/<storage_key>/.
CREATE TABLE images (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  storage_key  uuid NOT NULL UNIQUE,
  kind         text NOT NULL CHECK (kind IN ('image', 'document')),
  -- Name, type and size describe the bytes as they were received.
  name         text NOT NULL,
  content_type text NOT NULL,
  size         integer NOT NULL,
  user_id      integer NOT NULL REFERENCES users,
  uploaded_at  timestamptz NOT NULL,
  -- Since when no record uses it; null while one does.
  unused_since timestamptz
);

CREATE INDEX images_unused ON images (unused_since) WHERE unused_since IS NOT NULL;

-- Which records use which images.
CREATE TABLE image_uses (
  storage_key uuid NOT NULL REFERENCES images (storage_key),
  entity      text NOT NULL CHECK (entity IN ('company', 'product', 'label', 'label_batch', 'knowledge_blog')),
  entity_id   integer NOT NULL,
  PRIMARY KEY (entity, entity_id, storage_key)
);

CREATE INDEX image_uses_by_key ON image_uses (storage_key, entity, entity_id);

-- What may be in the file store without a row in images: an upload in progress, or an image that has expired. It is
-- removed after remove_at. docs/decisions/images.md explains why nothing is lost or left behind.
CREATE TABLE image_leftovers (
  storage_key uuid PRIMARY KEY,
  remove_at   timestamptz NOT NULL
);

CREATE INDEX image_leftovers_by_time ON image_leftovers (remove_at);

-- === catalogue: currency ===

CREATE TABLE currency_types (
  code    text COLLATE "C" PRIMARY KEY,
  label   text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  -- The number by which front ends name the currency.
  id      integer GENERATED ALWAYS AS IDENTITY UNIQUE
);

-- The euro, in which rates are given, is a currency that companies can choose before rates have been imported.
INSERT INTO currency_types (code, label) VALUES ('EUR', 'Euro');

-- What one euro was worth in each other currency. The euro has no rows.
CREATE TABLE currency_rates (
  code  text COLLATE "C" NOT NULL,
  date  date NOT NULL,
  value numeric NOT NULL CHECK (value > 0),
  PRIMARY KEY (code, date)
);

CREATE INDEX currency_rates_by_date ON currency_rates (date);

-- The provider's answer for a date: the date of the rates that it returned, which is an earlier one at weekends; null
-- if it has none.
CREATE TABLE currency_dates (
  date           date PRIMARY KEY,
  published      date,
  -- Until when the answer counts; null for good. Rates of the last days may still be published.
  believed_until timestamptz
);

-- Dates for which a process is asking the provider; other processes wait for it until the claim ends. The server's
-- clock decides, because the clocks of the processes may differ by more than the duration of a claim.
CREATE TABLE currency_fetches (
  date       date PRIMARY KEY,
  claimant   uuid NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Requests to the provider, by day in the machine's time zone; counted before each is sent.
CREATE TABLE provider_requests (
  day  date PRIMARY KEY,
  used integer NOT NULL
);

-- The requests to the provider that each user caused, by the same days.
CREATE TABLE provider_requests_by_user (
  day     date NOT NULL,
  user_id integer NOT NULL,
  used    integer NOT NULL,
  PRIMARY KEY (day, user_id)
);

-- The daily retrieval: when a process claimed it, and when it was done.
CREATE TABLE daily_retrievals (
  day        date PRIMARY KEY,
  claimed_at timestamptz NOT NULL,
  done_at    timestamptz
);

-- === catalogue: codes ===

-- Code lists: kinds of facilities, units, evidence, semi-products and products. Administrators write them, every user
-- can read them. Codes that are disabled can no longer be chosen.
CREATE TABLE facility_types (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code       text NOT NULL UNIQUE,
  label      text NOT NULL,
  created_by integer NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  version    integer NOT NULL DEFAULT 1,
  disabled   boolean
);

CREATE TABLE measure_unit_types (
  id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code          text NOT NULL UNIQUE,
  label         text NOT NULL,
  -- The weight of one unit in underlying units; in kilograms if there is no underlying unit.
  weight        double precision,
  underlying_id integer REFERENCES measure_unit_types,
  created_by    integer NOT NULL REFERENCES users,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  version       integer NOT NULL DEFAULT 1,
  disabled      boolean
);

CREATE INDEX measure_unit_types_by_underlying ON measure_unit_types (underlying_id) WHERE underlying_id IS NOT NULL;

-- In the following lists, label, name and description are English. Translations are objects of them by language,
-- including English.
CREATE TABLE processing_evidence_types (
  id                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code              text NOT NULL UNIQUE,
  label             text NOT NULL,
  type              text CHECK (type IN ('DOCUMENT', 'FIELD', 'CALCULATED')),
  fairness          boolean,
  provenance        boolean,
  quality           boolean,
  mandatory         boolean,
  required_on_quote boolean,
  -- One type of each group is required on a quote.
  quote_group       text,
  translations      jsonb NOT NULL,
  created_by        integer NOT NULL REFERENCES users,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  version           integer NOT NULL DEFAULT 1,
  disabled          boolean
);

CREATE TABLE processing_evidence_fields (
  id                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  field_name        text NOT NULL UNIQUE,
  label             text NOT NULL,
  type              text CHECK (type IN ('STRING', 'TEXT', 'NUMBER', 'INTEGER', 'DATE', 'OBJECT', 'PRICE',
    'EXCHANGE_RATE', 'TIMESTAMP')),
  mandatory         boolean,
  required_on_quote boolean,
  translations      jsonb NOT NULL,
  created_by        integer NOT NULL REFERENCES users,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  version           integer NOT NULL DEFAULT 1,
  disabled          boolean
);

CREATE TABLE semi_products (
  id               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name             text NOT NULL,
  description      text,
  unit_id          integer REFERENCES measure_unit_types,
  sku              boolean,
  sku_end_customer boolean,
  buyable          boolean,
  translations     jsonb NOT NULL,
  created_by       integer NOT NULL REFERENCES users,
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  version          integer NOT NULL DEFAULT 1,
  disabled         boolean
);

CREATE INDEX semi_products_by_unit ON semi_products (unit_id);

CREATE TABLE product_types (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code         text NOT NULL UNIQUE,
  name         text NOT NULL,
  description  text,
  translations jsonb NOT NULL,
  created_by   integer NOT NULL REFERENCES users,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  version      integer NOT NULL DEFAULT 1,
  disabled     boolean
);

-- === catalogue: value chains ===

-- Value chains, and the codes that are used in each.
CREATE TABLE value_chains (
  id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text NOT NULL,
  description     text,
  status          text NOT NULL CHECK (status IN ('ENABLED', 'DISABLED')),
  product_type_id integer REFERENCES product_types,
  -- The name as lists search it, and its beginning, by which they are sorted.
  folded          text COLLATE "C" NOT NULL,
  name_key        text COLLATE "C" GENERATED ALWAYS AS (left(folded, 100)) STORED,
  created_by      integer NOT NULL REFERENCES users,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  version         integer NOT NULL DEFAULT 1
);

CREATE INDEX value_chains_by_name ON value_chains (name_key, id);
CREATE INDEX value_chains_by_product_type ON value_chains (product_type_id, id);

CREATE TABLE value_chain_facility_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES facility_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);

CREATE INDEX value_chain_facility_types_by_code ON value_chain_facility_types (code_id);

CREATE TABLE value_chain_measure_unit_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES measure_unit_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);

CREATE INDEX value_chain_measure_unit_types_by_code ON value_chain_measure_unit_types (code_id);

CREATE TABLE value_chain_evidence_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES processing_evidence_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);

CREATE INDEX value_chain_evidence_types_by_code ON value_chain_evidence_types (code_id);

CREATE TABLE value_chain_evidence_fields (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES processing_evidence_fields,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);

CREATE INDEX value_chain_evidence_fields_by_code ON value_chain_evidence_fields (code_id);

CREATE TABLE value_chain_semi_products (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES semi_products,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);

CREATE INDEX value_chain_semi_products_by_code ON value_chain_semi_products (code_id);

-- === catalogue: companies ===

CREATE TABLE companies (
  id                               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status                           text NOT NULL CHECK (status IN ('ACTIVE', 'DEACTIVATED')),
  name                             text NOT NULL,
  abbreviation                     text,
  about                            text,
  manager                          text,
  web_page                         text,
  email                            text,
  address                          text,
  city                             text,
  state                            text,
  zip                              text,
  -- 1-based row of the ISO 3166-1 list.
  country_id                       smallint,
  -- Storage key of an image.
  logo                             text,
  -- Name and abbreviation as they are searched for and sorted by, and their tokens: words and runs of three code points
  -- (search.ts of lists, docs/decisions/companies.md).
  folded                           text COLLATE "C" NOT NULL,
  tokens                           text[] COLLATE "C" NOT NULL,
  version                          integer NOT NULL DEFAULT 1,
  created_by                       integer NOT NULL REFERENCES users,
  created_at                       timestamptz NOT NULL,
  -- From here to certifications: the profile as front ends of a value chain ask for it.
  phone                            text,
  interview                        text,
  cell                             text,
  sector                           text,
  village                          text,
  other_address                    text,
  honduras_farm                    text,
  honduras_village                 text,
  honduras_municipality            text,
  honduras_department              text,
  display_preferred_way_of_payment boolean,
  purchase_proof_multiple_farmers  boolean,
  allow_beyco_integration          boolean,
  -- ISO 4217 code of a currency type.
  currency                         text,
  -- Links by the name of the medium.
  media_links                      jsonb NOT NULL DEFAULT '{}',
  -- Lists of objects with ids of company_entry_ids; files are storage keys.
  documents                        jsonb NOT NULL DEFAULT '[]',
  certifications                   jsonb NOT NULL DEFAULT '[]',
  -- A folded name can be too long for an index; lists by name are sorted by its beginning.
  name_key                         text COLLATE "C" GENERATED ALWAYS AS (left(folded, 100)) STORED
);

-- These indexes have everything that lists filter and sort by: they alone lead to a page, however far down it is.
CREATE INDEX companies_by_id ON companies (id) INCLUDE (name_key, status);
CREATE INDEX companies_by_name ON companies (name_key, id) INCLUDE (status);
CREATE INDEX companies_by_status ON companies (status, id) INCLUDE (name_key);
CREATE INDEX companies_by_status_and_name ON companies (status, name_key, id);
-- Without a list of pending entries, which every search would have to read.
CREATE INDEX companies_by_token ON companies USING gin (tokens) WITH (fastupdate = off);

-- Gives the ids of documents and certifications; the role of the services cannot use a sequence directly.
CREATE TABLE company_entry_ids (
  id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  given_at timestamptz NOT NULL
);

-- Who acts for a company.
CREATE TABLE company_users (
  company_id integer NOT NULL REFERENCES companies,
  user_id    integer NOT NULL REFERENCES users,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  PRIMARY KEY (user_id, company_id)
);

CREATE INDEX company_users_by_company ON company_users (company_id, user_id);

-- Users who were asked to act for a company and have not answered. When they accept, they are added to company_users.
CREATE TABLE company_invitations (
  company_id integer NOT NULL REFERENCES companies,
  user_id    integer NOT NULL REFERENCES users,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  invited_by integer NOT NULL REFERENCES users,
  invited_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, company_id)
);

CREATE INDEX company_invitations_by_company ON company_invitations (company_id, user_id);

-- The SHA-256 of the codes that were mailed for them.
CREATE TABLE company_invitation_tokens (
  hash       bytea PRIMARY KEY,
  company_id integer NOT NULL,
  user_id    integer NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (user_id, company_id) REFERENCES company_invitations ON DELETE CASCADE
);

CREATE INDEX company_invitation_tokens_by_invitation ON company_invitation_tokens (user_id, company_id);

-- Invitations of companies to e-mail addresses, whether or not an account has the address. The user who has it accepts
-- or declines. The audit names invitations by their id, because it is never erased.
CREATE TABLE company_address_invitations (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  company_id integer NOT NULL REFERENCES companies,
  -- As the company typed it, and in the form by which accounts are looked up.
  email      text NOT NULL,
  email_key  text COLLATE "C" NOT NULL,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  invited_by integer NOT NULL REFERENCES users,
  invited_at timestamptz NOT NULL,
  UNIQUE (company_id, email_key)
);

CREATE INDEX company_address_invitations_by_address ON company_address_invitations (email_key, company_id);
CREATE INDEX company_address_invitations_by_time ON company_address_invitations (invited_at);

-- The SHA-256 of the codes that were mailed for them.
CREATE TABLE company_address_invitation_tokens (
  hash          bytea PRIMARY KEY,
  invitation_id integer NOT NULL REFERENCES company_address_invitations ON DELETE CASCADE,
  expires_at    timestamptz NOT NULL
);

CREATE INDEX company_address_invitation_tokens_by_invitation ON company_address_invitation_tokens (invitation_id);

-- When users sent their invitations of the last hour.
CREATE TABLE company_inviters (
  user_id integer PRIMARY KEY REFERENCES users,
  sent    timestamptz[] NOT NULL
);

-- The value chains in which a company takes part; the feature of value chains writes them.
CREATE TABLE company_value_chains (
  company_id     integer NOT NULL REFERENCES companies,
  value_chain_id integer NOT NULL REFERENCES value_chains,
  position       smallint NOT NULL,
  PRIMARY KEY (company_id, value_chain_id)
);

CREATE INDEX company_value_chains_by_value_chain ON company_value_chains (value_chain_id, company_id);

-- Mails of accounts and of invitations that were given up; the feature of mails writes them. A row has no secret and no
-- address: each attempt writes the mail again.
CREATE TABLE failed_mails (
  id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The id of the last job that was to send it.
  mail_id       uuid NOT NULL UNIQUE,
  -- The job without its id.
  job           jsonb NOT NULL,
  user_id       integer REFERENCES users,
  invitation_id integer REFERENCES company_address_invitations ON DELETE CASCADE,
  -- QUEUED: it is being sent again; OBSOLETE: there was no longer a reason to send it.
  status        text NOT NULL CHECK (status IN ('FAILED', 'QUEUED', 'OBSOLETE')),
  attempts      integer NOT NULL,
  last_error    text NOT NULL,
  failed_at     timestamptz NOT NULL,
  -- When an administrator last had it sent again.
  replayed_at   timestamptz,
  CHECK ((user_id IS NULL) <> (invitation_id IS NULL))
);

CREATE INDEX failed_mails_by_status ON failed_mails (status, id);
CREATE INDEX failed_mails_by_user ON failed_mails (user_id);
CREATE INDEX failed_mails_by_invitation ON failed_mails (invitation_id);
CREATE INDEX failed_mails_by_time ON failed_mails (failed_at);

-- === catalogue: products ===

CREATE TABLE products (
  id             integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name           text NOT NULL,
  -- The name as it is searched for and sorted by, and its tokens, as for companies.
  folded         text COLLATE "C" NOT NULL,
  tokens         text[] COLLATE "C" NOT NULL,
  -- The owner; a product without one belongs to its creator alone.
  company_id     integer REFERENCES companies,
  -- Everything else that was sent. Statements do not look into it, so it remains the text that was sent.
  content        json NOT NULL,
  version        integer NOT NULL DEFAULT 1,
  created_by     integer NOT NULL REFERENCES users,
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  -- What lists by name are sorted by, as a column: for an expression, PostgreSQL would have to read each product that a
  -- page skips.
  name_key       text COLLATE "C" GENERATED ALWAYS AS (left(folded, 100)) STORED,
  value_chain_id integer REFERENCES value_chains,
  -- The storage key of the photo as a column, so that a list does not parse the content of each of its products. Read
  -- as JSON and not as text, because the latter decodes every string of the content.
  photo_key      text GENERATED ALWAYS AS (btrim((content -> 'photo' -> 'storageKey')::text, '"')) STORED
);

-- As for companies, these indexes alone lead to a page, however far down it is.
CREATE INDEX products_by_id ON products (id) INCLUDE (name_key, company_id, created_by);
CREATE INDEX products_by_name ON products (name_key, id) INCLUDE (company_id, created_by);
CREATE INDEX products_by_update ON products (updated_at, id) INCLUDE (name_key, company_id, created_by);
CREATE INDEX products_by_company ON products (company_id, id);
CREATE INDEX products_by_creator ON products (created_by, id) WHERE company_id IS NULL;
CREATE INDEX products_by_value_chain ON products (value_chain_id) WHERE value_chain_id IS NOT NULL;
CREATE INDEX products_by_token ON products USING gin (tokens) WITH (fastupdate = off);

-- The companies of a product; the owner is among them, as OWNER. Members of any of them can read the product.
CREATE TABLE product_companies (
  product_id integer NOT NULL REFERENCES products ON DELETE CASCADE,
  company_id integer NOT NULL REFERENCES companies,
  type       text NOT NULL CHECK (type IN ('BUYER', 'IMPORTER', 'EXPORTER', 'OWNER', 'PRODUCER', 'ASSOCIATION',
    'PROCESSOR', 'TRADER', 'ROASTER')),
  position   smallint NOT NULL,
  PRIMARY KEY (product_id, company_id, type)
);

CREATE INDEX product_companies_by_company ON product_companies (company_id, product_id);
-- Finds the roles that a company has in products.
CREATE INDEX product_companies_by_type ON product_companies (company_id, type);

-- Every change of a product, field by field. Append-only, and kept when the product is removed.
CREATE TABLE product_changes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL,
  -- The version that the change made; 1 is the creation.
  version    integer NOT NULL,
  at         timestamptz NOT NULL,
  user_id    integer NOT NULL,
  -- The path of the field, such as origin.text; empty for the product itself, which was created or removed.
  path       text NOT NULL,
  before     json,
  after      json
);

CREATE INDEX product_changes_by_product ON product_changes (product_id, id);

REVOKE UPDATE, DELETE, TRUNCATE ON product_changes FROM CURRENT_USER;

-- === catalogue: labels ===

CREATE TABLE product_labels (
  id               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What a printed code leads to.
  uuid             uuid NOT NULL UNIQUE,
  product_id       integer NOT NULL REFERENCES products ON DELETE CASCADE,
  status           text NOT NULL CHECK (status IN ('UNPUBLISHED', 'PUBLISHED')),
  -- Title, language, fields, and everything else that was sent.
  content          json NOT NULL,
  -- The label's own copy of the product and its owner, which is changed independently; null in labels of older versions
  -- until their next change.
  own              json,
  -- Storage keys of the images and documents that everyone can read while the label is published.
  public_files     uuid[] NOT NULL DEFAULT '{}',
  version          integer NOT NULL DEFAULT 1,
  -- How much feedback nobody who can change the product has seen yet.
  feedback_unseen  integer NOT NULL DEFAULT 0,
  -- The version of the product with which the label was last compared.
  compared_version integer NOT NULL DEFAULT 0
);

CREATE INDEX product_labels_by_product ON product_labels (product_id, id);
CREATE INDEX product_labels_by_unseen ON product_labels (product_id) WHERE feedback_unseen > 0;

CREATE TABLE label_batches (
  id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label_id           integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  number             text NOT NULL,
  production_date    date,
  expiry_date        date,
  locations          json NOT NULL,
  -- Storage key of an image.
  photo              uuid,
  -- Whether everyone can check its number and dates, and see its locations.
  check_authenticity boolean,
  trace_origin       boolean,
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  version            integer NOT NULL DEFAULT 1,
  UNIQUE (label_id, number)
);

-- Case is ignored when a batch is looked up by its number. The index is not unique, because numbers of batches of older
-- versions may differ only in case.
CREATE INDEX label_batches_by_number ON label_batches (label_id, lower(number));

-- Which documents of the owner a label shows, in order. One that the company removes is no longer shown.
CREATE TABLE label_documents (
  label_id    integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  document_id integer NOT NULL,
  position    smallint NOT NULL,
  PRIMARY KEY (label_id, document_id)
);

CREATE INDEX label_documents_by_document ON label_documents (document_id);

-- How often labels were viewed and checked. Written every few seconds, not with each request.
CREATE TABLE label_counts (
  label_id integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  kind     text NOT NULL CHECK (kind IN ('VISIT', 'AUTH_TRUE', 'AUTH_FALSE', 'ORIGIN_TRUE', 'ORIGIN_FALSE')),
  count    bigint NOT NULL,
  PRIMARY KEY (label_id, kind)
);

-- === catalogue: final products ===

-- What products are sold as.
CREATE TABLE final_products (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id  integer NOT NULL REFERENCES products ON DELETE CASCADE,
  name        text NOT NULL,
  description text,
  unit_id     integer REFERENCES measure_unit_types,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  version     integer NOT NULL DEFAULT 1
);

CREATE INDEX final_products_by_product ON final_products (product_id, id);
CREATE INDEX final_products_by_unit ON final_products (unit_id) WHERE unit_id IS NOT NULL;

-- The labels that a final product carries, in order. The service deletes such a label only with its product.
CREATE TABLE final_product_labels (
  final_product_id integer NOT NULL REFERENCES final_products ON DELETE CASCADE,
  label_id         integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  position         smallint NOT NULL,
  PRIMARY KEY (final_product_id, label_id)
);

CREATE INDEX final_product_labels_by_label ON final_product_labels (label_id);

-- === public: knowledge blog ===

CREATE TABLE knowledge_blog (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id  integer NOT NULL REFERENCES products ON DELETE CASCADE,
  type        text CHECK (type IN ('FAIRNESS', 'QUALITY', 'PROVENANCE')),
  title       text NOT NULL,
  date        date,
  youtube_url text,
  summary     text,
  content     text,
  -- Storage keys, in order.
  documents   uuid[] NOT NULL,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  version     integer NOT NULL DEFAULT 1
);

CREATE INDEX knowledge_blog_by_product ON knowledge_blog (product_id, id);

-- === public: feedback ===

-- What consumers wrote without a login.
CREATE TABLE label_feedback (
  id                     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label_id               integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  type                   text CHECK (type IN ('PRAISE', 'PROPOSAL', 'COMPLAINT')),
  email                  text,
  feedback               text,
  gdpr_consent           boolean,
  privacy_policy_consent boolean,
  terms_of_use_consent   boolean,
  -- Texts by the name of the question.
  answers                json NOT NULL,
  at                     timestamptz NOT NULL
);

CREATE INDEX label_feedback_by_label ON label_feedback (label_id, id);
CREATE INDEX label_feedback_by_email ON label_feedback (lower(email)) WHERE email IS NOT NULL;

-- === public: label requests ===

-- What front ends report about the pages of labels, such as visits: how often a day, without who it was.
CREATE TABLE label_requests (
  label_id integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  type     text NOT NULL,
  day      date NOT NULL,
  count    integer NOT NULL,
  PRIMARY KEY (label_id, type, day)
);

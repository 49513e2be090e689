-- The profile of a company as front ends of a value chain ask for it.
ALTER TABLE companies
  ADD COLUMN phone text,
  ADD COLUMN interview text,
  ADD COLUMN cell text,
  ADD COLUMN sector text,
  ADD COLUMN village text,
  ADD COLUMN other_address text,
  ADD COLUMN honduras_farm text,
  ADD COLUMN honduras_village text,
  ADD COLUMN honduras_municipality text,
  ADD COLUMN honduras_department text,
  ADD COLUMN display_preferred_way_of_payment boolean,
  ADD COLUMN purchase_proof_multiple_farmers boolean,
  ADD COLUMN allow_beyco_integration boolean,
  -- ISO 4217 code of a currency type.
  ADD COLUMN currency text,
  -- Links by the name of the medium.
  ADD COLUMN media_links jsonb NOT NULL DEFAULT '{}',
  -- Lists of objects with ids of company_entry_ids; files are storage keys.
  ADD COLUMN documents jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN certifications jsonb NOT NULL DEFAULT '[]';

-- Gives the ids of documents and certifications; the role of the services may not use a sequence by itself.
CREATE TABLE company_entry_ids (
  id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  given_at timestamptz NOT NULL
);

-- For the roles of a company in products.
CREATE INDEX product_companies_by_type ON product_companies (company_id, type);

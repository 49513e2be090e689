-- Companies that have removed themselves from a product. Nobody else can add them to it again before they allow it.
CREATE TABLE product_departures (
  product_id integer NOT NULL REFERENCES products ON DELETE CASCADE,
  company_id integer NOT NULL REFERENCES companies,
  at         timestamptz NOT NULL,
  PRIMARY KEY (product_id, company_id)
);

CREATE INDEX product_departures_by_company ON product_departures (company_id);

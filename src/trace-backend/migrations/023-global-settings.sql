-- Settings of the front end, by name.
CREATE TABLE global_settings (
  name      text PRIMARY KEY,
  value     text,
  -- Readable without a login.
  is_public boolean NOT NULL
);

-- What front ends report of the pages of labels, such as visits: how often a day, without who it was.
CREATE TABLE label_requests (
  label_id integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  type     text NOT NULL,
  day      date NOT NULL,
  count    integer NOT NULL,
  PRIMARY KEY (label_id, type, day)
);

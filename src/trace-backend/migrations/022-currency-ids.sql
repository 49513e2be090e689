-- Front ends name currencies by a number.
ALTER TABLE currency_types ADD COLUMN id integer GENERATED ALWAYS AS IDENTITY UNIQUE;

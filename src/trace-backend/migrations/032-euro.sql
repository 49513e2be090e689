-- The euro, in which rates are given, is a currency that companies can choose, also before rates have been imported.
INSERT INTO currency_types (code, label) VALUES ('EUR', 'Euro') ON CONFLICT (code) DO NOTHING;

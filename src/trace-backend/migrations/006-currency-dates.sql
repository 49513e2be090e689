-- Until when what the provider said of a date counts; null for good. A date of the last days may still be published.
ALTER TABLE currency_dates ADD COLUMN believed_until timestamptz;

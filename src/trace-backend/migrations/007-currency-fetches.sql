-- Dates that a process is asking the provider for; other processes wait for it until the claim ends. The server's clock
-- decides, because the processes' own clocks may differ by more than a claim lasts.
CREATE TABLE currency_fetches (
  date       date PRIMARY KEY,
  claimant   uuid NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The requests to the provider that each user caused, by day as in provider_requests.
CREATE TABLE provider_requests_by_user (
  day     date NOT NULL,
  user_id integer NOT NULL,
  used    integer NOT NULL,
  PRIMARY KEY (day, user_id)
);

-- When a secret was made. The service token before the present one is kept for a while: SERVICE_TOKEN_BEFORE, with the
-- time at which it was replaced.
ALTER TABLE kept_secrets ADD COLUMN made_at timestamptz;

-- Oldest schema a program must know: 0004-imports
-- Access tokens of operators (docs/decisions/operator-tokens.md). Only the SHA-256 of a token is stored: 256 random bits
-- cannot be guessed. Scopes are separated by spaces. Times are UTC epoch seconds.
create table operator_token (
  id text not null primary key,
  name text not null,
  scopes text not null,
  sha256 text not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  revoked_at integer
) strict, without rowid;

-- Responses to POST requests with an Idempotency-Key, encrypted with a key that only the caller has
-- (docs/decisions/idempotency.md). The status is null while the first request runs.
create table idempotency_key (
  operator_id text not null references operator_token (id),
  operation text not null,
  idempotency_key text not null,
  fingerprint text not null,
  created_at integer not null,
  status integer,
  response text,
  primary key (operator_id, operation, idempotency_key)
) strict, without rowid;

create index idempotency_key_created on idempotency_key (created_at);

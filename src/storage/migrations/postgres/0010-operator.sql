-- Oldest schema a program must know: 0004-imports
-- Access tokens of operators (docs/decisions/operator-tokens.md). Only the SHA-256 of a token is stored: 256 random bits
-- cannot be guessed. Scopes are separated by spaces. Times are UTC epoch seconds.
create table operator_token (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  scopes text not null,
  sha256 text collate "C" not null unique,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint
);

-- Responses to POST requests with an Idempotency-Key, encrypted with a key that only the caller has
-- (docs/decisions/idempotency.md). The status is null while the first request runs.
create table idempotency_key (
  operator_id text collate "C" not null references operator_token (id),
  operation text collate "C" not null,
  idempotency_key text collate "C" not null,
  fingerprint text not null,
  created_at bigint not null,
  status bigint,
  response text,
  primary key (operator_id, operation, idempotency_key)
);

create index idempotency_key_created on idempotency_key (created_at);

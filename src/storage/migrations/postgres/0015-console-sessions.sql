-- Oldest schema a program must know: 0004-imports
-- A session of the console is a family without refresh tokens: the SHA-256 of its id, which is 256 random bits. Null for a
-- family of tokens (docs/decisions/console-sessions.md).
alter table refresh_family add column session_sha256 text collate "C";

create index refresh_family_session on refresh_family (session_sha256) where session_sha256 is not null;

-- Sessions of the operator's console. Each belongs to an operator's token and ends with it. Times are UTC epoch seconds.
create table operator_session (
  sha256 text collate "C" not null primary key,
  operator_id text collate "C" not null references operator_token (id),
  started_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null,
  cap_at bigint not null
);

create index operator_session_expires on operator_session (expires_at);

create index operator_session_operator on operator_session (operator_id, used_at);

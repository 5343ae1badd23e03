import type { StateKind } from '../sync/state-file.ts';

/** The state file of a mirror. */
export const stateKind: StateKind = {
  applicationId: 0x73726d72,
  migrations: [
    `create table mirror (key text primary key, value text not null) strict;
    create table record (
      id text primary key, iccid text, created integer, digest text not null,
      walk integer not null, alive integer not null, rejection text
    ) strict, without rowid;
    create index record_alive on record (alive);
    create table walk (
      number integer primary key, startedAt integer not null, originAt integer not null, endedAt integer,
      page integer not null, firstTotal integer, lastTotal integer, seen integer not null default 0,
      settled integer not null default 0, fault text, size integer not null
    ) strict;
    create table removal (id text primary key, at text not null) strict, without rowid;`,
    // known: the walk during which the mirror first read the record
    `alter table record add column known integer not null default 0;
    alter table walk add column missing integer not null default 0;
    alter table walk drop column settled;`,
    // stored: the digest of the record in the tenant; staleSince: the age of a version that is kept
    // because the tenant rejects the newer one
    `alter table record add column stored text not null default '';
    alter table record add column staleSince text;
    alter table walk add column rejected integer not null default 0;`,
    // in the order of the walks: a page of the origin is a few pages of the file, and an index of
    // what each walk changes costs more than it saves
    `alter table record rename to record_by_id;
    create table record (
      id text not null unique, iccid text, created integer, digest text not null,
      walk integer not null, alive integer not null, rejection text, known integer not null default 0,
      stored text not null default '', staleSince text
    ) strict;
    insert into record select * from record_by_id order by created, id;
    drop table record_by_id;`,
  ],
};

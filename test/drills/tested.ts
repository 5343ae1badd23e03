import type { TestedDrill } from './drill.ts';

/** Faults that tests plant; `npm run drill` runs these tests. */
export const testedDrills: readonly TestedDrill[] = [
  {
    name: 'store-killed',
    fault: 'kill -9 of a loading process at random times',
    file: 'storage/crash.test.ts',
    title: 'kill -9 of a loading process',
  },
  {
    name: 'store-damaged',
    fault: 'the file of the embedded store is damaged',
    file: 'http/damaged-store.test.ts',
    title: 'a report that finds the store damaged',
  },
  {
    name: 'pooler',
    fault: 'a pooler gives each transaction another session',
    file: 'storage/pooler.test.ts',
    title: 'behind a transaction pooler',
  },
  {
    name: 'load-interrupted',
    fault: 'the connection of a load is killed half-way',
    file: 'storage/postgres-faults.test.ts',
    title: 'when PostgreSQL fails a load whose connection is killed half-way',
  },
  {
    name: 'tenant-hangs',
    fault: 'the statements of one tenant hang',
    file: 'storage/postgres-faults.test.ts',
    title: 'when PostgreSQL fails a tenant whose statements hang',
  },
  {
    name: 'worker-killed',
    fault: 'kill -9 of a worker',
    file: 'cli/workers.test.ts',
    title: 'serve --workers on sqlite kill -9 of a worker',
  },
  {
    name: 'launcher-killed',
    fault: 'kill -9 of the launcher of an import',
    file: 'cli/launcher.test.ts',
    title: 'kill -9 of the launcher',
  },
  {
    name: 'second-signal',
    fault: 'a second SIGTERM while the service drains',
    file: 'cli/supervision.test.ts',
    title: 'serve --workers a second signal',
  },
  {
    name: 'hang-up',
    fault: 'SIGHUP with running requests',
    file: 'cli/supervision.test.ts',
    title: 'serve --workers SIGHUP',
  },
  {
    name: 'log-unread',
    fault: 'nothing reads the pipe of the log',
    file: 'cli/log.test.ts',
    title: 'a service whose log is never read',
  },
  {
    name: 'log-disk-full',
    fault: 'the log is on a full disk',
    file: 'cli/log.test.ts',
    title: 'a service whose log is on a full disk',
  },
  {
    name: 'result-disk-full',
    fault: 'the result of a command is written to a full disk',
    file: 'cli/standard-output.test.ts',
    title: 'a result written to a full disk',
  },
  {
    name: 'rolling-upgrade',
    fault: 'an upgrade while clients send requests',
    file: 'cli/upgrade.test.ts',
    title: 'an upgrade of a service behind a load balancer',
  },
  {
    name: 'migration-killed',
    fault: 'migrations killed at any time, or run by four processes',
    file: 'storage/migration.test.ts',
    title: 'migrations on',
  },
  {
    name: 'backup-while-writing',
    fault: 'a backup while an import writes, and a backup killed half-way',
    file: 'backup/backup.test.ts',
    title: 'subreport backup on',
  },
  {
    name: 'restore',
    fault: 'a restore to an older state, a restore killed half-way',
    file: 'backup/restore.test.ts',
    title: 'subreport restore on',
  },
  {
    name: 'many-exports',
    fault: 'hundreds of exports at once',
    file: 'http/export-limits.test.ts',
    title: 'whole reports at once, on sqlite hundreds of concurrent exports',
  },
  {
    name: 'slow-reader',
    fault: 'the client of an export stops reading',
    file: 'http/export-limits.test.ts',
    title: 'whole reports at once, on sqlite an export whose client reads more slowly',
  },
  {
    name: 'export-memory',
    fault: 'a large export to a slow reader: memory',
    file: 'http/export-memory.test.ts',
    title: '',
  },
  {
    name: 'costly-queries',
    fault: 'the costliest queries: the event loop still turns',
    file: 'http/turns.test.ts',
    title: 'no turn of the event loop',
  },
  {
    name: 'memory-of-attackers',
    fault: 'thousands of invented client ids of 64 KiB',
    file: 'auth/memory.test.ts',
    title: '',
  },
  {
    name: 'compromised-key',
    fault: 'a token is seen just before its key is rotated as compromised',
    file: 'auth/compromised-key.test.ts',
    title: 'subreport keys rotate --compromised',
  },
  {
    name: 'issuer-down',
    fault: 'the external issuer is down, hangs or is wrong',
    file: 'auth/external/issuer-down.test.ts',
    title: 'a service whose external issuer cannot be asked',
  },
  {
    name: 'citus-worker-down',
    fault: 'a worker of a Citus cluster fails',
    file: 'citus/cluster.test.ts',
    title: '',
  },
];

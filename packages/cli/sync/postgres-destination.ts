import type { DestinationKind } from './destination-kind.ts';

export const postgresDestination: DestinationKind = {
  mode: 'table',
  form: 'postgres://USER@HOST/DATABASE',
  pattern: /^postgres(ql)?:\/\//,
  keeps: 'a table in a database of PostgreSQL',
  note: `The password of PostgreSQL may be in PGPASSWORD or ~/.pgpass. A database of another machine needs sslmode=verify-full
in its URL, and sslrootcert=FILE for a private authority.`,
  examples: ["--to 'postgres://reports@db.example.com/warehouse?sslmode=verify-full' --table mobile.subscriptions"],
  mayHaveSchema: true,
  options: [
    {
      flags: '--allow-plain',
      description: 'permit a connection to another machine that is not verified: records can be read on the way',
    },
  ],
  async open({ to, allowPlain }) {
    const { PostgresTables } = await import('./table/postgres-table.ts');
    return PostgresTables.connect(to, allowPlain === true);
  },
};

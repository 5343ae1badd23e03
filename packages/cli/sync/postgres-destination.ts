import type { DestinationKind } from './destination-kind.ts';

export const postgresDestination: DestinationKind = {
  mode: 'table',
  form: 'postgres://USER@HOST/DATABASE',
  pattern: /^postgres(ql)?:\/\//,
  keeps: 'a table in a database of PostgreSQL',
  note: 'The password of PostgreSQL may be in PGPASSWORD or ~/.pgpass.',
  examples: ['--to postgres://reports@db.example.com/warehouse --table mobile.subscriptions'],
  mayHaveSchema: true,
  async open({ to }) {
    const { PostgresTables } = await import('./postgres-table.ts');
    return PostgresTables.connect(to);
  },
};

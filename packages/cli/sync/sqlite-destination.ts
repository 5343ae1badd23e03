import type { DestinationKind } from './destination-kind.ts';

export const sqliteDestination: DestinationKind = {
  mode: 'table',
  form: 'sqlite:FILE',
  pattern: /^sqlite:./s,
  keeps: 'a table in a file of SQLite',
  examples: ['--to sqlite:copy.db'],
  mayHaveSchema: false,
  async open({ to }, create) {
    const { SqliteTables } = await import('./table/sqlite-table.ts');
    return new SqliteTables(to.slice('sqlite:'.length), create);
  },
};

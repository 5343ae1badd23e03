const shared = ['cli/sync/source', 'client/index.ts', 'contract', 'node'];
const outgoing = [...shared, 'outgoing'];
const messages = ['terminal/error.ts', 'terminal/printable.ts'];

/** The folders of `sync`: three kinds of copies import what they share, and never each other. */
export const syncFolders = [
  {
    path: 'cli/sync',
    contents: "the destinations of copies of a report in the reader's own databases and files",
    imports: ['cli/sync/source', 'cli/sync/table', 'cli/sync/files', 'cli/sync/webhook', 'node'],
  },
  {
    path: 'cli/sync/source',
    contents: 'what all copies share: the report and its records, comparison, errors, what is temporary, state files',
    imports: ['client/index.ts', 'contract', 'terminal/create-folders.ts', ...messages, 'node'],
  },
  {
    path: 'cli/sync/table',
    contents: 'copies that follow the changes: a table of SQLite or PostgreSQL, lines for a program',
    imports: [...outgoing, 'terminal/printable.ts', 'pg', 'pg-copy-streams'],
  },
  {
    path: 'cli/sync/files',
    contents: 'whole reports in files with manifests, in a folder or through rclone',
    imports: [...shared, ...messages, 'hyparquet'],
  },
  {
    path: 'cli/sync/webhook',
    contents: 'events to an endpoint: changes, and what ends soon',
    imports: [...outgoing, ...messages],
  },
] as const;

/** A folder of the report's console, what it contains, and what beside it it may import. */
const rows: readonly (readonly [name: string, contents: string, imports: string])[] = [
  ['session', 'the session of a client, and its sign-in', ''],
  ['zone', 'the time zone of the pages, and its days', ''],
  ['past', 'the time that the pages show', 'session zone'],
  ['words', 'words of records and of their fields', 'session zone'],
  ['link', 'what a link means: filters, order, position', 'past zone'],
  ['store', 'the report that a link names, loaded', 'api.ts link session words'],
  ['filters', 'every filter in one table; sentences and suggestions of it', 'link past words zone'],
  ['filters/editors', 'the editors of the filters', 'api.ts filters/* link past zone'],
  ['source', 'commands and JSON that a reader copies', ''],
  ['live', 'what changes while a page is open', 'api.ts past session'],
  ['history', 'the versions of a record, and how they differ', 'api.ts words zone'],
  ['export', 'exports and the choice of their columns', 'api.ts session words zone'],
  ['table', 'the subscriptions as a table', 'api.ts export filters link past session store titles.ts words'],
  ['record', 'one subscription', 'api.ts history link past session source store words'],
  ['share', 'links and commands of a question', 'export link source store'],
  [
    'counts',
    'the subscriptions counted by a dimension',
    'api.ts export filters link past session store titles.ts words zone',
  ],
  ['changes', 'what was added, changed or removed', 'api.ts history live past session words zone'],
];

/**
 * The folders that pages of the report's console share, from the bottom: none imports one that
 * imports it. Other folders are pages.
 */
export const reportFolders = rows.map(([name, contents, imports]) => ({
  path: `console/report/${name}`,
  contents,
  imports: [
    ...imports
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => `console/report/${each}`),
    ...(name === 'export' ? ['cli/workbook'] : []),
  ],
}));

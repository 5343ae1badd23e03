import { expect, test } from 'vitest';
import type { ChangesSummary } from '../../client/index.ts';
import { writeChangesSummary } from './changes-summary.ts';
import { openScreen } from './record-writer.ts';

const kinds = { added: 1, changed: 10, removed: 100 };
const summary: ChangesSummary = {
  ...{ total: 111, ...kinds, renewed: 4, since_revision: 1, revision: 2, next: 'AAAB' },
  by: {
    status: [{ from: null, to: 'ACTIVE', count: 3 }],
    'product-id': [{ from: 'a', from_name: 'Europe', to: 'b', count: 2 }],
    'auto-renew': [{ from: 'true', to: 'false', count: 5 }],
    day: [{ value: null, ...kinds }],
    import: [{ ...kinds, renewed: 4, status: [], omitted: 0 }],
  },
  omitted: { status: 1, 'product-id': 1, import: 1 },
};

async function written(given: ChangesSummary): Promise<[lines: string[], remarks: string[]]> {
  const [out, remarks]: [string[], string[]] = [[], []];
  const output = {
    stdout: { write: (text: string | Uint8Array) => out.push(String(text)) },
    stderr: { write: (text: string) => remarks.push(text) },
  };
  await writeChangesSummary(given, openScreen({ output: 'ndjson' }, output));
  const rows = out.join('').trim().split('\n');
  return [rows.map((line) => Object.values(JSON.parse(line) as object).join()), remarks];
}

test('every count has a row, and each list that leaves something out a remark', async () => {
  expect(await written(summary)).toEqual([
    [
      ...['total,,111', 'kind,added,1', 'kind,changed,10', 'kind,removed,100', 'renewed,,4'],
      ...['status,none → ACTIVE,3', 'product-id,Europe → b,2', 'auto-renew,true → false,5'],
      ...['day,,111', 'import,none,111'],
    ],
    [
      'Not listed: 1 changes with other transitions of the status\n',
      'Not listed: 1 changes with other moves to a product\n',
      'Not listed: 1 older imports\n',
    ],
  ]);
});

test('whole lists have no remark', async () => {
  const [, remarks] = await written({ ...summary, omitted: { status: 0, 'product-id': 0, import: 0 } });
  expect(remarks).toEqual([]);
});

import { expect, test } from 'vitest';
import { csvOf } from './csv-of.ts';

test('members of objects are columns, details are JSON, and formulas are guarded', () => {
  const entry = { id: 1, actor: { kind: 'client', name: '=1+1' }, tenant: null, details: { rows: 2 } };
  expect(csvOf([entry, { ...entry, scopes: ['a', 'b'] }])).toBe(
    'id,actor.kind,actor.name,tenant,details,scopes\r\n' +
      '1,client,\'=1+1,,"{""rows"":2}",\r\n' +
      '1,client,\'=1+1,,"{""rows"":2}",a b\r\n',
  );
});

import { expect, test } from 'vitest';
import iccidForms from '../../test/corpus/iccid-forms.json' with { type: 'json' };
import { readColumn } from './read-column.ts';

const [one, other] = ['8944500102198304826', '8944500102198304834'];

test.each(iccidForms)('a list of ICCIDs with $form is read, or has faults', ({ text, values }) => {
  const read = readColumn('iccid', text);
  expect(read.values.length > 0 && read.faults.length === 0 ? read.values : []).toEqual(values);
  if (values.length === 0)
    expect(read.faults[0]).toMatch(/^line \d must be 15 to 22 digits, such as \d+: current value/);
});

test('the header and the number of repeated values are returned', () => {
  expect(readColumn('iccid', `\n"SIM-Karte"\n${one}\n${other}\n"${one}"`)).toMatchObject({
    header: 'SIM-Karte',
    repeated: 1,
  });
});

test('values that a header could be are read as such, except the names of the parameter', () => {
  expect(readColumn('id', 'Subscription ID\nid\nother').values).toEqual(['id', 'other']);
  expect(readColumn('id', 'device_1\nid').values).toEqual(['device_1', 'id']);
  expect(readColumn('device-id', '"say ""hi"""\n"a,b"\nICCID').values).toEqual(['say "hi"', 'a,b', 'ICCID']);
});

test.each([
  ['an invalid value', `${one}\n12\n${other}\nICCID`, ['line 2 must be 15 to 22 digits', 'line 4 must be']],
  ['only a header', 'iccid\n', ['it must have a value on a line of its own']],
  [
    'a name and digits',
    `Card ${one}`,
    ["line 1 must be 15 to 22 digits, such as 8944500102198304826: current value is 'Card'"],
  ],
  [
    'too many values',
    Array.from({ length: 1_001 }, (_, n) => 10 ** 15 + n).join('\n'),
    ['it must have at most 1000 values; split it: current value is 1001'],
  ],
  [
    'invalid lines only, of several columns',
    '1,x\n'.repeat(5_000),
    [...Array(10).fill('must be 15 to 22 digits'), '4990 more lines are invalid'],
  ],
])('a column with %s is rejected', (_what, content, faults) => {
  expect(readColumn('iccid', content).faults).toEqual(faults.map((fault) => expect.stringContaining(fault)));
});

import { expect, test } from 'vitest';
import { readColumn } from './read-column.ts';

const [one, other] = ['8944500102198304826', '8944500102198304834'];

test.each([
  ['lines', `${one}\n${other}\n`, {}],
  ['no end of line', `${one}\n${other}`, {}],
  ['CRLF and a byte order mark', `\ufeff${one}\r\n${other}\r\n`, {}],
  ['CR', `${one}\r${other}\r`, {}],
  ['quotes, as of a column of a spreadsheet', `"ICCID"\r\n"${one}"\r\n"${other}"\r\n`, { header: 'ICCID' }],
  ['an apostrophe, as of text in a spreadsheet', `'${one}\n"'${other}"\n`, {}],
  ['blanks', `\n ${one} \n\n\t${other}\n"  "\n\n`, { blanks: 4 }],
  ['repeated values', `${one}\n${other}\n${one}\n"${one}"\n`, { repeated: 2 }],
  ['a header after blank lines', `\nSIM-Karte\n${one}\n${other}`, { blanks: 1, header: 'SIM-Karte' }],
])('a column with %s is read', (_what, content, counted) => {
  const read = { values: [one, other], blanks: 0, repeated: 0, header: undefined, faults: [] };
  expect(readColumn('iccid', content)).toEqual({ ...read, ...counted });
});

test('values that a header could be are read as such, except the names of the parameter', () => {
  expect(readColumn('id', 'Subscription ID\nid\nother').values).toEqual(['id', 'other']);
  expect(readColumn('id', 'device_1\nid').values).toEqual(['device_1', 'id']);
  expect(readColumn('device-id', '"say ""hi"""\n"a,b"\nICCID').values).toEqual(['say "hi"', 'a,b', 'ICCID']);
});

test.each([
  ['an invalid value', `${one}\n12\n${other}\nICCID`, ['line 2 must be 15 to 22 digits', 'line 4 must be']],
  ['only a header', 'iccid\n', ['it must have a value on a line of its own']],
  ['nothing', '', ['it must have a value on a line of its own']],
  ['two columns', `${one},${other}`, ["current value is '8944500102198304826,8944500102198304834'"]],
  [
    'digits that a spreadsheet has rounded',
    '8.94E+18',
    ["line 1 must be 15 to 22 digits, such as 8944500102198304826: current value is '8.94E+18'"],
  ],
  [
    'too many values',
    Array.from({ length: 1_001 }, (_, n) => 10 ** 15 + n).join('\n'),
    ['it must have at most 1000 values; split it: current value is 1001'],
  ],
  [
    'invalid lines only',
    'x1\n'.repeat(5_000).replace('x1', '1'),
    [...Array(10).fill('must be 15 to 22 digits'), '4990 more lines are invalid'],
  ],
])('a column with %s is rejected', (_what, content, faults) => {
  expect(readColumn('iccid', content).faults).toEqual(faults.map((fault) => expect.stringContaining(fault)));
});

import { describe, expect, test } from 'vitest';
import iccidForms from '../../../../test/corpus/iccid-forms.json' with { type: 'json' };
import { filters } from './filters.ts';
import { readList, readPasted } from './read-pasted.ts';
import { suggestFilters } from './suggest-filters.ts';

const iccids = Array.from({ length: 200 }, (_, n) => String(8_944_500_102_198_300_000n + BigInt(n)));
const listsOf = (text: string) => {
  const read = readPasted(text);
  if (read === undefined || 'fault' in read) return read;
  return read.choices.map(({ apply: { listed } }) => [listed?.name, listed?.values.length]);
};

describe('a pasted column', () => {
  test.each([
    [
      'ids that could be of either',
      'a_1\nb_2\n',
      [
        ['id', 2],
        ['device-id', 2],
      ],
    ],
    ['ids that only devices can have', 'tracker 1\ntracker 2', [['device-id', 2]]],
    [
      'EIDs',
      '89049032123451234512345678901235\n89049032123451234512345678901243',
      [
        ['id', 2],
        ['device-id', 2],
      ],
    ],
    ['device ids, by the header', 'Device\nd-1\nd-2', [['device-id', 2]]],
    ['ICCIDs, by the header', `Subscription ICCID\n${iccids.join('\n')}`, [['iccid', 200]]],
    ['IMEIs, by the header', 'Device id\n356938035643809\n356938035643817', [['device-id', 2]]],
    ['ids of subscriptions that are digits, by the header', 'id\n356938035643809\n356938035643817', [['id', 2]]],
    [
      'digits that could be of either',
      '356938035643809\n356938035643817',
      [
        ['iccid', 2],
        ['device-id', 2],
      ],
    ],
    ['ids of subscriptions, by the header', 'id\ns-1\ns-2', [['id', 2]]],
  ])('of %s is recognised', (_what, text, lists) => {
    expect(listsOf(text)).toEqual(lists);
  });

  test('the number of repeated values is returned', () => {
    expect(readPasted(`${iccids[0]}\n${iccids[1]}\n${iccids[0]}`)).toMatchObject({
      choices: [{ label: 'Subscriptions with any of 2 ICCIDs', detail: '1 repeated' }],
    });
    expect(listsOf(`${iccids[0]} ${iccids[0]}`)).toEqual([['iccid', 1]]);
  });

  test.each([
    ['one line', '8944500102198304826'],
    ['one line with its end', ' ada@example.com\n'],
    ['nothing', ''],
  ])('%s is no column', (_what, text) => {
    expect(readPasted(text)).toBeUndefined();
  });

  test.each([
    ['numbers that a spreadsheet has rounded', 'IMEI\n3.5E+14\n3,57E+14', 'has rounded these numbers'],
    ['several columns', 'a_1\tACTIVE\nb_2\tACTIVE', 'several columns'],
    ['too many values', Array.from({ length: 1_001 }, (_, n) => 10 ** 15 + n).join('\n'), 'at most 1000 values'],
    ['a text that is too long to read', '1\n'.repeat(150_001), 'paste at most 1,000 values'],
  ])('of %s is not taken: %s', (_what, text, fault) => {
    expect(readPasted(text)).toEqual({ fault: expect.stringContaining(fault) });
  });
});

describe.each(iccidForms)('ICCIDs with $form', ({ text, values }) => {
  const [value, ...others] = values;
  const one = value !== undefined && others.length === 0 ? { apply: { iccid: value } } : undefined;

  test('are filtered by, or named', () => {
    const offered = readPasted(text) ?? { choices: suggestFilters(text, {}, new Date()) };
    const choices = [one ?? { apply: { listed: { name: 'iccid', values } } }];
    expect(offered).toMatchObject(value === undefined ? { fault: expect.any(String) } : { choices });
  });

  test('are one value, or a list, or named', () => {
    expect(filters.iccid.read?.(text)?.apply).toEqual(one?.apply);
    expect(readList('iccid', text)).toMatchObject(value === undefined ? { fault: expect.any(String) } : { values });
  });
});

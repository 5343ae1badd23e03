import { expect, test } from 'vitest';
import { placeDates } from './place-dates.ts';

const record = {
  createdDate: '2024-05-01T00:00:00Z',
  activationDate: '2024-05-02T00:00:00Z',
  expirationDate: '2024-05-11T00:00:00Z',
};
const placed = (now: string, dates = record) =>
  placeDates(dates, new Date(now)).map(({ name, position }) => [name, position]);

test('dates are placed on the line by time, with the present between them', () => {
  expect(placed('2024-05-06T00:00:00Z')).toEqual([
    ['createdDate', 0],
    ['activationDate', 0.1],
    ['now', 0.5],
    ['expirationDate', 1],
  ]);
});

test('the present is not on the line before the first date or after the last one', () => {
  expect(placed('2024-05-21T00:00:00Z').at(-1)).toEqual(['now', undefined]);
  expect(placed('2024-04-21T00:00:00Z').at(0)).toEqual(['now', undefined]);
});

test('dates that are all equal are at the start of the line', () => {
  const now = '2024-05-01T00:00:00Z';
  const same = { createdDate: now, activationDate: now, expirationDate: now };
  expect(placed(now, same).map(([, position]) => position)).toEqual([0, 0, 0, 0]);
});

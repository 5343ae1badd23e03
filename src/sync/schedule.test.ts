import { describe, expect, test } from 'vitest';
import { Schedule } from './schedule.ts';

/** All instants of a schedule in a range, by its `next`, each the `latest` of itself. */
function instants(line: string, zone: string, from: string, to: string): string[] {
  const schedule = new Schedule(line, zone);
  const found: string[] = [];
  for (let at = schedule.next(new Date(from)); at <= new Date(to); at = schedule.next(at)) {
    expect(schedule.latest(at)).toEqual(at);
    expect(schedule.latest(new Date(at.getTime() + 30_000))).toEqual(at);
    found.push(at.toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

describe('in Europe/Berlin', () => {
  const zone = 'Europe/Berlin';

  test('2027-03-28 02:30, which does not exist, is the moment at which the clocks are turned forward, once', () => {
    expect(instants('30 2 * * *', zone, '2027-03-27T00:00Z', '2027-03-29T12:00Z')).toEqual([
      '2027-03-27T01:30Z',
      '2027-03-28T01:00Z',
      '2027-03-29T00:30Z',
    ]);
    expect(instants('*/15 2 28 3 *', zone, '2027-03-27T00:00Z', '2027-03-29T12:00Z')).toEqual(['2027-03-28T01:00Z']);
    expect(instants('0 2,3 * * *', zone, '2027-03-28T00:00Z', '2027-03-28T12:00Z')).toEqual(['2027-03-28T01:00Z']);
  });

  test('2027-10-31 02:30, which exists twice, is its first instant, once', () => {
    expect(instants('30 2 * * *', zone, '2027-10-30T00:00Z', '2027-11-01T12:00Z')).toEqual([
      '2027-10-30T00:30Z',
      '2027-10-31T00:30Z',
      '2027-11-01T01:30Z',
    ]);
    const quarters = ['2027-10-31T00:15Z', '2027-10-31T00:45Z'];
    expect(instants('15,45 2 * * *', zone, '2027-10-30T12:00Z', '2027-10-31T12:00Z')).toEqual(quarters);
    expect(new Schedule('15,45 2 * * *', zone).latest(new Date('2027-10-31T01:10Z'))).toEqual(
      new Date('2027-10-31T00:45Z'),
    );
  });

  test('a line for every hour has all hours that pass', () => {
    expect(instants('30 * * * *', zone, '2027-10-30T23:00Z', '2027-10-31T02:00Z')).toEqual([
      '2027-10-30T23:30Z',
      '2027-10-31T00:30Z',
      '2027-10-31T01:30Z',
    ]);
    expect(instants('30 * * * *', zone, '2027-03-28T00:00Z', '2027-03-28T02:00Z')).toEqual([
      '2027-03-28T00:30Z',
      '2027-03-28T01:30Z',
    ]);
  });
});

test('the instants of a year are in order, one for each day, in zones with odd changes', () => {
  for (const zone of ['Australia/Lord_Howe', 'Antarctica/Troll', 'America/St_Johns', 'Asia/Kathmandu', 'UTC'])
    for (const hour of [0, 1, 2, 3]) {
      const found = instants(`30 ${hour} * * *`, zone, '2027-01-01T15:00Z', '2027-12-31T15:00Z');
      expect(found).toHaveLength(364);
      expect(found).toEqual(found.toSorted());
    }
});

test.each(['30 2 * *', '30 2 * * * *', '@daily', '61 2 * * *', '0 0 31 2 *', '2027-01-01T00:00:00'])(
  "'%s' is no schedule",
  (line) => {
    expect(() => new Schedule(line, 'UTC')).toThrow();
  },
);

test('a zone that does not exist is refused', () => {
  expect(() => new Schedule('30 2 * * *', 'Europe/Atlantis')).toThrow();
});

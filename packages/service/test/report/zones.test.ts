import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawPart } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { parseInstantIn } from '../../../contract/local-time.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import type { SubscriptionSummary } from '../../../contract/summary.ts';
import { findZone } from '../../../contract/zone.ts';
import { exportSubscriptions } from '../../report/export-subscriptions.ts';
import { getSubscriptionSummary } from '../../report/get-subscription-summary.ts';
import { parseReport } from '../../report/parse.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { TenantId } from '../../storage/store.ts';

// The days and months of a zone are those of Python's zoneinfo, which reads the time zones of the
// machine. Dates are in the past: the rules of the future change.

/** A day near which the offset of each zone changes. */
const changes: Readonly<Record<string, string>> = {
  'Europe/Berlin': '2023-10-29',
  'Europe/Dublin': '2023-10-29',
  'America/New_York': '2024-03-10',
  'America/St_Johns': '2009-11-01', // at 00:01 of the first, back to the day and month before
  'America/Havana': '2023-11-05',
  'America/Sao_Paulo': '2018-11-04', // without a midnight
  'America/Asuncion': '2023-03-26',
  'America/Caracas': '2016-05-01',
  'Atlantic/Azores': '2024-03-31',
  'Africa/Casablanca': '2023-03-19',
  'Africa/Cairo': '2014-05-16',
  'Africa/Monrovia': '1972-01-07', // 44:30 minutes behind before
  'Asia/Kathmandu': '1986-01-01',
  'Asia/Tehran': '2022-03-22',
  'Asia/Gaza': '2011-08-01',
  'Asia/Amman': '2022-02-25',
  'Asia/Pyongyang': '2018-05-05',
  'Australia/Lord_Howe': '2024-04-07', // by half an hour
  'Pacific/Chatham': '2024-04-07',
  'Pacific/Apia': '2011-12-30', // a day that was skipped
  'Pacific/Kiritimati': '1994-12-31', // the last day of a year, which was skipped
  'Antarctica/Troll': '2023-03-26', // by two hours
  'Antarctica/Casey': '2010-03-05', // by three hours
};
const zones = Object.keys(changes);
/** The zones in which a run counts and exports records; their dates alone are read in all zones. */
const counted = drawPart(zones, 6);
const day = 86_400;
const around = 3;

const secondsOf = (text: string): number => Date.parse(text) / 1000;

/**
 * Instants around the changes of these zones: on the hour and the half-hour, and a second to both
 * sides.
 */
const instants = [...new Set(counted.map((zone) => changes[zone] ?? ''))].flatMap((date) =>
  Array.from({ length: around * 2 * 48 }, (_, step) => secondsOf(date) - around * day + step * 1_800).flatMap(
    (seconds) => [seconds - 1, seconds, seconds + 61],
  ),
);

/** Dates and times of the days around a change, of which some are skipped or occur twice. */
const localTimes = (zone: string): readonly string[] =>
  Array.from({ length: 5 }, (_, index) =>
    new Date((secondsOf(changes[zone] ?? '') + (index - 2) * day) * 1000).toISOString().slice(0, 10),
  ).flatMap((date) => [
    date,
    ...Array.from({ length: 48 }, (_, half) => {
      const time = `${String(half >> 1).padStart(2, '0')}:${half % 2 === 0 ? '00' : '30'}`;
      return [`${date}T${time}`, `${date}T${time}:59`];
    }).flat(),
  ]);

const program = `
import json, sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo
asked = json.load(sys.stdin)
def instant(text, zone):
    local = datetime.fromisoformat(text)
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    at = int(first.timestamp())
    offset = lambda seconds: datetime.fromtimestamp(seconds, timezone.utc).astimezone(zone).utcoffset()
    if datetime.fromtimestamp(at, timezone.utc).astimezone(zone).replace(tzinfo=None) == local:
        return at
    before = int(second.timestamp())
    while at - before > 1:
        middle = (at + before) // 2
        if offset(middle) == offset(at): at = middle
        else: before = middle
    return at
def local(seconds, zone):
    at = datetime.fromtimestamp(seconds, timezone.utc)
    # an offset of minutes and seconds has no ISO 8601 form that all readers know
    minutes = (int(at.astimezone(zone).utcoffset().total_seconds()) + 30) // 60
    return at.astimezone(timezone(timedelta(minutes=minutes))).replace(tzinfo=None).isoformat() + \
        ('-' if minutes < 0 else '+') + '%02d:%02d' % divmod(abs(minutes), 60)
answer = {}
for name, texts in asked['texts'].items():
    zone = ZoneInfo(name)
    answer[name] = {
        'dates': [datetime.fromtimestamp(each, timezone.utc).astimezone(zone).date().isoformat() for each in asked['instants']],
        'locals': [local(each, zone) for each in asked['instants']],
        'instants': [instant(text, zone) for text in texts],
    }
json.dump(answer, sys.stdout)
`;

interface Expected {
  readonly dates: readonly string[];
  readonly locals: readonly string[];
  readonly instants: readonly number[];
}

function readZones(): Readonly<Record<string, Expected>> {
  const texts = Object.fromEntries(zones.map((zone) => [zone, localTimes(zone)]));
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify({ instants, texts }),
    maxBuffer: 100_000_000,
  });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

const expected = readZones();

const dateOfLine = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}[+-]\d{2}:\d{2}/g;

test.each(zones)('dates and times of %s are the instants that Python finds', (zone) => {
  const found = localTimes(zone).map((text) => [text, parseInstantIn(text, findZone(zone))?.seconds]);
  expect(found).toEqual(localTimes(zone).map((text, index) => [text, expected[zone]?.instants[index]]));
});

describe.each(engines)('days and months of time zones on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let tenant: TenantId;
  let utcLines: ReadonlyMap<string, string>;
  const statusOf = (index: number) => (index % 3 === 0 ? 'EXPIRED' : 'ACTIVE');
  beforeAll(async () => {
    opened = await openTestStore();
    tenant = await addTenant(opened.store, 'zones');
    const rows = instants.map((seconds, index) =>
      subscriptionRow({
        id: `id${index}`,
        createdDate: seconds,
        expirationDate: seconds,
        status: statusOf(index),
        productId: `p${index % 2}`,
        planId: `plan${index % 2}`,
        email: index % 2 === 1 ? 'ada@example.com' : null,
      }),
    );
    for (let from = 0; from < rows.length; from += 5_000)
      await opened.store.loadSubscriptions(tenant, rows.slice(from, from + 5_000));
    utcLines = await linesOf('');
  });
  afterAll(() => opened.close());

  async function summaryOf(asked: Readonly<Record<string, string>>): Promise<SubscriptionSummary> {
    const query = parseSummary(new URLSearchParams(asked).toString(), {
      limits: defaultPageLimits,
      now: () => secondsOf('2024-06-01'),
    });
    return JSON.parse((await getSubscriptionSummary(opened.store, tenant, query)).body);
  }

  /** The lines of an export by id, without their id. */
  async function linesOf(asked: string): Promise<ReadonlyMap<string, string>> {
    const context = { store: opened.store, limits: defaultPageLimits, now: () => 0, reportUrl: '' };
    const query = parseReport(`${asked}&all=true&format=csv`, context, undefined);
    const report = await exportSubscriptions(context, tenant, query, 60_000);
    let text = '';
    for await (const { bytes } of report.pieces) text += String(bytes);
    await report.close();
    const [, ...lines] = text.trimEnd().split('\r\n');
    return new Map(lines.map((line) => [line.slice(0, line.indexOf(',')), line.slice(line.indexOf(',') + 1)]));
  }

  test.each(counted)('CSV has the dates of %s that Python finds, and nothing else that differs', async (zone) => {
    const asked = `dates=local&zone=${zone}`;
    const local = await linesOf(`${asked}&fields=id,createdDate,status,expirationDate`);
    const expectedLines = instants.map((_, index) => {
      const at = expected[zone]?.locals[index];
      return [`id${index}`, `${at},${statusOf(index)},${at}`] as const;
    });
    expect([...local].sort()).toEqual([...expectedLines].sort());
    const inUtc = (text: string) => text.replaceAll(dateOfLine, (each) => new Date(each).toJSON().replace('.000', ''));
    const whole = [...(await linesOf(asked))].map(([id, line]) => [id, inUtc(line)] as const);
    expect(new Map(whole)).toEqual(utcLines);
  });

  /** Counts of some of the records by the first letters of their local date. */
  function countsOf(zone: string, length: number, isCounted: (index: number) => boolean) {
    const dates = (expected[zone]?.dates ?? []).filter((_, index) => isCounted(index));
    const counts = Map.groupBy(dates, (date) => date.slice(0, length));
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, { length: count }]) => ({ value, count }));
  }

  test.each(counted)('records are counted by the days and months of %s as Python does', async (zone) => {
    const middle = secondsOf(changes[zone] ?? '');
    const [from, until] = [middle - 2 * day + 4_000, middle + 2 * day + 5_000];
    const isWithin = (index: number) => Number(instants[index]) >= from && Number(instants[index]) < until;
    const bounds = {
      after: new Date((from - 1) * 1000).toISOString(),
      before: new Date(until * 1000).toISOString(),
    };
    for (const dateField of ['created', 'expiration']) {
      const ofDays = { zone, by: 'day', ...bounds, 'date-field': dateField };
      expect((await summaryOf(ofDays)).by.day).toEqual(countsOf(zone, 10, isWithin));
      // an index of several columns, and the records of a product
      const several = await summaryOf({ ...ofDays, by: 'day,status,plan-id', status: 'ACTIVE,none' });
      expect(several.by.day).toEqual(countsOf(zone, 10, (at) => isWithin(at) && statusOf(at) === 'ACTIVE'));
      expect(several.zone).toBe(zone);
      const ofProduct = await summaryOf({ ...ofDays, 'product-id': 'p1' });
      expect(ofProduct.by.day).toEqual(countsOf(zone, 10, (at) => isWithin(at) && at % 2 === 1));
      const ofOne = await summaryOf({ ...ofDays, by: 'day,month', email: 'ada@example.com' });
      expect(ofOne.by.day).toEqual(ofProduct.by.day);
      const ofMonths = { zone, by: 'month', 'date-field': dateField };
      expect((await summaryOf(ofMonths)).by.month).toEqual(countsOf(zone, 7, () => true));
      const scanned = await summaryOf({ ...ofMonths, by: 'month,product-id', 'plan-id': 'plan0' });
      expect(scanned.by.month).toEqual(countsOf(zone, 7, (at) => at % 2 === 0));
    }
  });
});

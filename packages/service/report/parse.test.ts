import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reportParameters } from '../../contract/query.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { encodeCursor } from './cursor.ts';
import { ReportError } from './error.ts';
import { parseNoParameters, parseReport } from './parse.ts';

const nowSeconds = 1_714_521_600;
const context = { limits: defaultPageLimits, now: () => nowSeconds };
const parse = (query: string) => parseReport(query, context, 'json');

function failure(query: string): ReportError {
  try {
    parse(query);
  } catch (error) {
    if (error instanceof ReportError) return error;
    throw error;
  }
  throw new Error(`'${query}' was accepted`);
}

describe('parseReport', () => {
  test('without parameters it returns page 1 of 20 records by creation date', () => {
    expect(parse('')).toEqual({
      dateField: 'created',
      sort: 'createdDate',
      canonical: [
        ['date-field', 'created'],
        ['sort', 'createdDate'],
      ],
      size: 20,
      page: 1,
      format: 'json',
      all: false,
      nowSeconds,
      linkQuery: '',
      fingerprint: parse('').fingerprint,
    });
  });

  test('reads every parameter', () => {
    const query =
      'iccid=8944500102198304826&email=+Ada%2Bx@Example.com+&product-id=a%2Fb&status=ACTIVE,DEPLETED&before=2024-05-01T00:00:00.002Z&after=2024-04-01T00:00:00+0000&date-field=expiration&sort=-activationDate&size=1000&page=7&device-id=d%201&plan-id=p&auto-renew=false&created-from=2024-04-01T00:00:00.5Z&created-to=2024-04-02T02:00:00%2B02:00';
    expect(parse(query)).toMatchObject({
      iccid: '8944500102198304826',
      email: 'ada+x@example.com',
      productId: 'a/b',
      statuses: ['ACTIVE', 'DEPLETED'],
      before: { seconds: 1_714_521_600, nanos: 2_000_000 },
      after: { seconds: 1_711_929_600, nanos: 0 },
      dateField: 'expiration',
      sort: '-activationDate',
      deviceId: 'd 1',
      planId: 'p',
      autoRenew: 'false',
      createdFrom: { seconds: 1_711_929_600, nanos: 500_000_000 },
      createdTo: { seconds: 1_712_016_000, nanos: 0 },
      size: 1000,
      page: 7,
    });
    expect(parse('expires-within=7d')).toMatchObject({ expiresWithinSeconds: 604_800, nowSeconds });
  });

  test('statuses are sorted and duplicates removed', () => {
    expect(parse('status=EXPIRED,ACTIVE,EXPIRED').statuses).toEqual(['ACTIVE', 'EXPIRED']);
  });

  test('up to 16 statuses are accepted, each of up to 64 characters', () => {
    const statuses = Array.from({ length: 17 }, (_, n) => String.fromCharCode(65 + n).repeat(64));
    expect(parse(`status=${statuses.slice(0, 16)}`).statuses).toEqual(statuses.slice(0, 16));
    for (const status of [String(statuses), 'A'.repeat(65), '', 'A,', ',A', 'A,,B'])
      expect(failure(`status=${status}`).faults.map(({ parameter }) => parameter)).toEqual(['status']);
  });

  test('a cursor keeps the start of the expires-within range', () => {
    const { fingerprint } = parse('expires-within=7d');
    const cursor = encodeCursor({
      direction: 'after',
      key: { date: 1, id: 'a' },
      page: 2,
      query: fingerprint,
      nowSeconds: 1_700_000_000,
    });
    expect(parse(`expires-within=7d&cursor=${cursor}`).nowSeconds).toBe(1_700_000_000);
    // the same duration in another format
    expect(parse(`expires-within=P1W&cursor=${cursor}`).nowSeconds).toBe(1_700_000_000);
    expect(failure(`expires-within=8d&cursor=${cursor}`).faults[0]?.parameter).toBe('cursor');
  });

  test('equal queries have one fingerprint, whatever their spelling', () => {
    const fingerprints = [
      'status=ACTIVE,EXPIRED&before=2024-05-01T02:00:00%2B02:00&email=Ada@Example.com',
      'email=ada@example.com&before=2024-05-01T00:00:00Z&status=EXPIRED,ACTIVE&sort=createdDate&size=20',
    ].map((query) => parse(query).fingerprint);
    expect(fingerprints[0]).toBe(fingerprints[1]);
  });

  test.each<[string, 'json' | 'csv' | 'ndjson' | undefined, string]>([
    ['', undefined, ''],
    ['', 'csv', 'csv'],
    ['format=ndjson', undefined, 'ndjson'],
    ['format=json', 'csv', 'json'],
  ])('for %j and the accepted format %s, the format is %j', (query, accepted, format) => {
    if (format === '')
      expect(() => parseReport(query, context, accepted)).toThrow(/Cannot respond in the requested format/);
    else expect(parseReport(query, context, accepted).format).toBe(format);
  });

  test('all=false is a page, and the format is not part of the fingerprint', () => {
    expect(parse('all=false&size=5').all).toBe(false);
    expect(parse('all=true&format=csv').all).toBe(true);
    expect(parse('format=csv').fingerprint).toBe(parse('').fingerprint);
  });

  test('numbers pages from 0 if FIRST_PAGE is 0', () => {
    const limits = { ...defaultPageLimits, firstPage: 0 } as const;
    expect(parseReport('', { ...context, limits }, 'json').page).toBe(0);
    expect(parseReport('page=0', { ...context, limits }, 'json').page).toBe(0);
    expect(failure('page=0').faults[0]?.parameter).toBe('page');
  });

  test('any query string is parsed or rejected with ReportError (property)', () => {
    const names = fc.constantFrom(...Object.keys(reportParameters(defaultPageLimits)), 'x');
    const values = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '1',
        '20',
        '2024-05-01T00:00:00Z',
        '2016-12-31T23:59:60Z',
        'ACTIVE',
        'created',
        '-createdDate',
        '1e400',
        '7d',
        'true',
        'csv',
        '%',
        '%00',
        '%ff',
      ),
      fc.integer().map(String),
    );
    const queries = fc
      .array(fc.tuple(names, values), { maxLength: 6 })
      .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
    fc.assert(
      fc.property(fc.oneof(queries, fc.string({ unit: 'binary' })), (query) => {
        try {
          const { size, page } = parse(query);
          expect(size >= 1 && size <= 1000 && page >= 1).toBe(true);
        } catch (error) {
          if (!(error instanceof ReportError)) throw error;
          expect(error.messages.length).toBeGreaterThan(0);
          expect(error.messages.every((message) => message.startsWith('Cannot '))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

test('parseNoParameters rejects any parameter', () => {
  expect(() => parseNoParameters('')).not.toThrow();
  expect(() => parseNoParameters('a=1')).toThrow(ReportError);
  expect(() => parseNoParameters('%ff')).toThrow(ReportError);
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import { changeFilterParameters } from '../../contract/change.ts';
import { instantParameters, reportParameters } from '../../contract/query.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { summaryParameters } from '../../contract/summary.ts';
import { readParameters } from './filter-options.ts';
import { type LinkUse, newestFirst, sayQuestion, withLink } from './link-query.ts';

const { format: _format, all: _all, 'as-of': _asOf, ...ofPages } = reportParameters(defaultPageLimits);
const { email: _email, ...ofSummary } = summaryParameters;
const list: LinkUse = { page: 'subscriptions', parameters: ofPages, ignored: ['by'], defaults: newestFirst };
const summary: LinkUse = { page: 'subscriptions', parameters: ofSummary, ignored: ['sort'], defaults: {} };
const changes: LinkUse = { page: 'changes', parameters: changeFilterParameters, ignored: [], defaults: {} };

test('the parameters of a link are options; the order is that of the page, and other options win', () => {
  const query = '?status=ACTIVE,DEPLETED&created-from=last-month&device-id=a%26b&size=50&by=month';
  expect(withLink({ query, size: '5' }, list)).toEqual({
    query,
    status: 'ACTIVE,DEPLETED',
    createdFrom: 'last-month',
    deviceId: 'a&b',
    size: '5',
    sort: '-createdDate',
  });
  expect(withLink({ query: 'sort=createdDate' }, list)).toMatchObject({ sort: 'createdDate' });
  expect(withLink({ query: 'by=month&sort=createdDate&as-of=this-month' }, summary)).toEqual({
    query: 'by=month&sort=createdDate&as-of=this-month',
    by: 'month',
    asOf: 'this-month',
  });
  expect(withLink({ status: 'ACTIVE' } as { query?: string }, list)).toEqual({ status: 'ACTIVE' });
});

test.each([...instantParameters])('the day in %s of a link is the instant at which it begins', (name) => {
  const { values } = readParameters(withLink({ query: `${name}=last-month` }, list), ofPages);
  expect(values).toEqual({ ...newestFirst, [name]: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00Z$/) });
});

test.each([
  ['an unknown parameter', list, 'stats=ACTIVE', "did you mean 'status'?"],
  ['a repeated one', list, 'size=1&size=2', 'size'],
  ['what cannot be decoded', list, 'device-id=%ff', 'device-id'],
  ['an address that it hides', list, 'email=hidden', 'it must be given with --email'],
  ['a list that it has no room for', list, 'list=device-id', 'it must be given with --device-id-file'],
  ['a list of a filter that has none', list, 'list=status', 'list must be one of id, iccid, device-id'],
  ['a past time', list, 'as-of=this-month', 'use subreport export or summary'],
  ['an address to count by', summary, 'email=hidden', 'takes no email address'],
  ['a list to count', summary, 'list=id', 'takes no list'],
  ['a filter of subscriptions', changes, 'status=ACTIVE', 'Cannot use --query: status must be'],
])('a link with %s is refused', (_what, use, query, rule) => {
  expect(() => withLink({ query }, use)).toThrow(rule);
});

describe('a link that is an address', () => {
  afterEach(() => void vi.unstubAllEnvs());
  const read = (query: string) => {
    const service = { URL: 'https://reports.example.com', CLIENT_ID: 'acme', CLIENT_SECRET: 'a secret of eight' };
    for (const [name, value] of Object.entries(service)) vi.stubEnv(`SUBREPORT_${name}`, value);
    return withLink({ query }, list);
  };

  test.each(['', 'https://reports.example.com'])('is one of the service of the profile, after "%s"', (origin) => {
    for (const path of ['/console/subscriptions', '/console/subscriptions/a'])
      expect(read(`${origin}${path}?status=ACTIVE`)).toMatchObject({ status: 'ACTIVE' });
  });

  const ofService = 'of the service of the profile, https://reports.example.com: use --profile';
  test.each([
    ['https://other.example.com/console/subscriptions?status=ACTIVE', ofService],
    ['https://reports.example.com:8443/console/subscriptions?status=ACTIVE', ofService],
    ['http://reports.example.com/console/subscriptions?status=ACTIVE', ofService],
    ['//other.example.com/console/subscriptions?status=ACTIVE', ofService],
    ['/console/changes?status=ACTIVE', 'of the page Subscriptions'],
    ['/console/subscriptions-of-others?status=ACTIVE', 'of the page Subscriptions'],
    ['https://reports.example.com/operator/console/subscriptions?status=ACTIVE', 'of the page Subscriptions'],
  ])('is refused: %s', (link, rule) => {
    expect(() => read(link)).toThrow(`Cannot use --query: it must be a link ${rule}`);
  });
});

test('what a link does not have comes from the command line', () => {
  expect(withLink({ query: 'email=hidden', email: 'ada@example.com' }, list)).toMatchObject({
    email: 'ada@example.com',
  });
  expect(withLink({ query: 'list=device-id', deviceIdFile: '-' }, list)).not.toHaveProperty('list');
});

test('the question of a link is said with its days as instants, and without an address', () => {
  const said: string[] = [];
  const screen = { remark: (text: string) => void said.push(text) } as never;
  sayQuestion(
    screen,
    { query: 'x' },
    {
      status: 'ACTIVE,DEPLETED',
      'date-field': 'expiration',
      after: '2026-10-01T00:00:00Z',
      sort: '-createdDate',
      fields: 'iccid,status',
      email: 'ada@example.com',
      'as-of': '2026-11-01T00:00:00Z',
    },
  );
  sayQuestion(screen, { query: '' }, {});
  sayQuestion(screen, {}, { status: 'ACTIVE' });
  expect(said).toEqual([
    'The question: status ACTIVE,DEPLETED; date-field expiration; after 2026-10-01T00:00:00Z; sort -createdDate; fields iccid,status; email; as-of 2026-11-01T00:00:00Z',
    'The question: everything',
  ]);
});

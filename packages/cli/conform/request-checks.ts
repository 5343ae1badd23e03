import { describePage, memberOf, optionalHeaders } from './account.ts';
import { type Check, failed, isJson, judge, notApplicable, passed } from './check.ts';
import { cut } from './requester.ts';

const header = (name: string, value: () => string): Check => ({
  id: `header-${name.toLowerCase()}`,
  sentence: `A request may have the header ${name}.`,
  run: async (account) => {
    const page = await account.read('size=1', { [name]: value() });
    return judge(page.isPage, describePage(page));
  },
});

const notServerError = (id: string, query: string, sentence: string): Check => ({
  id,
  sentence,
  run: async (account) => {
    const { status } = (await account.readOnce(query)).exchange;
    return judge(status < 500, `status ${status}`);
  },
});

/** Request headers, and errors: those that clients send by mistake. */
export const requestChecks: readonly Check[] = [
  ...Object.entries(optionalHeaders).map(([name, value]) => header(name, value)),
  {
    id: 'header-optional',
    sentence: 'A request for the report needs no header but Authorization.',
    run: async ({ requester: { demanded }, bare }) => {
      const names = Object.keys(demanded).join(', ');
      return names === '' ? passed('none is needed') : failed(`${describePage(bare)} without ${names}`);
    },
  },
  {
    id: 'error-malformed-date',
    sentence: 'A malformed date is rejected: it never widens the report.',
    needs: ['parameter-before'],
    run: async (account) => {
      const page = await account.readOnce('size=2&before=yesterday');
      return judge(page.exchange.status < 500 && page.records.length === 0, describePage(page));
    },
  },
  notServerError('error-malformed-size', 'size=many', 'A malformed size is no status 5xx.'),
  notServerError('error-malformed-page', 'page=first&size=1', 'A malformed page is no status 5xx.'),
  notServerError('error-negative-page', 'page=-1&size=1', 'A negative page is no status 5xx.'),
  {
    id: 'error-unknown-path',
    sentence: 'A path that does not exist is rejected with a status of 400 to 499.',
    run: async (account) => {
      const { status } = await account.requester.get('/v1/no-such-operation', await account.token());
      return judge(status >= 400 && status < 500, `status ${status}`);
    },
  },
  {
    id: 'error-json',
    sentence: 'The body of an error that is called JSON is a JSON object.',
    needs: ['auth-1-token-checked'],
    run: async ({ requester }) => {
      const exchange = await requester.get('/v1/subscription', 'not-a-token');
      const { isEmpty, json, headers } = exchange;
      if (isEmpty) return notApplicable('no body');
      // the specification leaves the body of an error open
      if (!/^application\/([\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? ''))
        return passed(isJson(exchange).seen);
      const type = memberOf(json, 'type');
      if (typeof json !== 'object' || json === null) return failed('no JSON object');
      return passed(typeof type === 'string' ? `type ${cut(type, 64)}` : 'a JSON object');
    },
  },
];

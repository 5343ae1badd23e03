import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatLogText } from './log-text.ts';

const time = '2026-11-22T04:13:37.572Z';
const clock = new Date(time).toTimeString().slice(0, 8);
const format = (line: object, hasColors = false): string =>
  formatLogText(`${JSON.stringify({ level: 'info', time, service: 'subreport', ...line })}\n`, hasColors);

describe('the text of a log line', () => {
  test('has the time, the level, the message and the other members without nulls', () => {
    expect(format({ msg: 'stopping', signal: 'SIGINT', worker: 2, code: null, reason: 'a "b"' })).toBe(
      `${clock} INFO  stopping signal=SIGINT worker=2 reason="a \\"b\\""\n`,
    );
  });

  test('is a sentence for a request, with the correlation id only if it failed', () => {
    const request = { msg: 'request', correlation_id: 'id-1', method: 'GET', duration_ms: 16.165, client_id: null };
    expect(format({ ...request, route: '/docs', status: 200, tenant: 'acme' })).toBe(
      `${clock} INFO  GET /docs 200 in 16.2 ms tenant=acme\n`,
    );
    expect(format({ ...request, route: null, status: 404 })).toBe(
      `${clock} INFO  GET (unknown path) 404 in 16.2 ms correlation_id=id-1\n`,
    );
  });

  test('has the messages of an error and its causes, and its stack on the following lines', () => {
    const err = {
      type: 'Error',
      message: 'no store',
      stack: 'Error: no store\n    at a (b:1)\n    at c',
      cause: { message: 'disk' },
    };
    expect(format({ level: 'error', msg: 'request failed', err })).toBe(
      `${clock} ERROR request failed: no store: disk\n    at a (b:1)\n    at c\n`,
    );
  });

  test('has no control character of its values, which could rewrite the terminal', () => {
    const text = format({ msg: 'a\u001b[2J\nb', id: '\u202e\u0007x' });
    expect(text).toBe(`${clock} INFO  a\\u001b[2J\\nb id=\\u202e\\u0007x\n`);
  });

  test('differs with colors only in escape sequences', () => {
    const line = { level: 'warn', msg: 'slow', ms: 3 };
    expect(format(line, true)).not.toBe(format(line));
    expect(stripVTControlCharacters(format(line, true))).toBe(format(line));
  });
});

import { describe, expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('traceparent (W3C Trace Context §3.2)', () => {
  test.each(['00', '01', '03', 'ff'])('flags %s are kept', (flags) => {
    const header = `00-${traceId}-${spanId}-${flags}`;
    const context = parseTraceparent(header);
    expect(context).toEqual({ traceId, spanId, traceFlags: Number.parseInt(flags, 16) });
    expect(context && formatTraceparent(context)).toBe(header);
  });

  test('a later version with more fields is read like version 00', () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-follows`)).toEqual({ traceId, spanId, traceFlags: 1 });
  });

  test.each([
    ['an absent header', undefined],
    ['a repeated header', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
    ['two values in one header', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ['an empty header', ''],
    ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['version ff', `ff-${traceId}-${spanId}-01`],
    ['version 00 with more fields', `00-${traceId}-${spanId}-01-more`],
    ['a later version with a longer field', `cc-${traceId}-${spanId}-011`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a parent id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a short trace id', `00-${traceId.slice(1)}-${spanId}-01`],
    ['flags that are not hexadecimal', `00-${traceId}-${spanId}-0g`],
    ['a leading blank', ` 00-${traceId}-${spanId}-01`],
  ])('%s is rejected', (_what, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

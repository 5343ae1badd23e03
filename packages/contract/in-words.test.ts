import { expect, test } from 'vitest';
import { inWords } from './in-words.ts';

const option = (name: string, value?: string): string => `--${name}${value === undefined ? '' : ` ${value}`}`;

test.each([
  [
    "Cannot use parameter 'size': it must be 1: current value is '0'",
    "Cannot use --size: it must be 1: current value is '0'",
  ],
  [
    "Cannot use parameter 'before': it must be later than 'after'",
    'Cannot use --before: it must be later than --after',
  ],
  ["it must be used with 'date-field=expiration'", 'it must be used with --date-field expiration'],
  ["Cannot use parameter 'iccid[0]': it must be short", 'Cannot use --iccid[0]: it must be short'],
  [
    "Cannot use parameter 'productid': it must be a known name; did you mean 'product-id'?",
    'Cannot use --productid: it must be a known name; did you mean --product-id?',
  ],
  [
    "Cannot use parameter 'by': it must be one of status; did you mean 'status'?: current value is 'size'",
    "Cannot use --by: it must be one of status; did you mean 'status'?: current value is 'size'",
  ],
])('%s', (sentence, reworded) => {
  expect(inWords(sentence, option)).toBe(reworded);
});

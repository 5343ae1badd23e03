import { expect, test } from 'vitest';
import { explanationIn } from './list.ts';

test.each([
  [undefined, undefined],
  ["No status '%C3%89t%C3%A9', 100%25", "No status 'Été', 100%"],
  // of another server, for a terminal
  ['%1B[31mNo%C2%85%0A', ' [31mNo  '],
  ['100%', undefined],
  ['No%E9', undefined],
])('the header X-Explanation %j explains %j', (header, explanation) => {
  expect(explanationIn(new Headers(header === undefined ? {} : { 'x-explanation': header }))).toBe(explanation);
});

import { expect, test } from 'vitest';
import { describeFaults, nameFaults } from './parameter-faults.ts';

test('several unknown names get the list of known ones once, and each its own suggestion', () => {
  const faults = nameFaults([{ name: 'statu' }, { name: 'pages' }, { name: 'x' }], ['status', 'page', 'size']);
  expect(describeFaults(faults, false).messages).toEqual([
    expect.stringMatching(/statu.* one of status, page, size; did you mean 'status'\?/),
    expect.stringMatching(/pages.* one of the names that an earlier message lists; did you mean 'page'\?/),
    expect.stringMatching(/x.* one of the names that an earlier message lists$/),
  ]);
});

test('at most 20 of many wrong names get a suggestion', () => {
  const pairs = Array.from({ length: 100 }, (_, index) => ({ name: `size${index % 10}${'-'.repeat(index)}` }));
  const rules = nameFaults(pairs, ['size', 'page']).map(({ rule }) => rule);
  expect(rules).toHaveLength(100);
  expect(rules.filter((rule) => rule.includes("did you mean 'size'?"))).toHaveLength(20);
});

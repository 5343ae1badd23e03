import { expect, test } from 'vitest';
import { describeFaults, nameFaults } from './parameter-faults.ts';

test('unknown names get a suggestion, and the first one without it the list of all', () => {
  const pairs = ['statu', 'x', 'pages', 'y'].map((name) => ({ name }));
  const faults = nameFaults(pairs, ['status', 'page', 'size']);
  expect(describeFaults(faults, false).messages).toEqual([
    expect.stringMatching(/statu.* a known name; did you mean 'status'\?$/),
    expect.stringMatching(/x.* one of status, page, size$/),
    expect.stringMatching(/pages.* a known name; did you mean 'page'\?$/),
    expect.stringMatching(/y.* one of the names that an earlier message lists$/),
  ]);
});

test('at most 20 of many wrong names get a suggestion', () => {
  const pairs = Array.from({ length: 100 }, (_, index) => ({ name: `size${index % 10}${'-'.repeat(index)}` }));
  const rules = nameFaults(pairs, ['size', 'page']).map(({ rule }) => rule);
  expect(rules).toHaveLength(100);
  expect(rules.filter((rule) => rule.includes("did you mean 'size'?"))).toHaveLength(20);
});

test('where no name is known, each must be left out', () => {
  const rules = nameFaults([{ name: 'x' }, { name: 'y' }], []).map(({ rule }) => rule);
  expect(rules).toEqual(['x', 'y'].map(() => 'left out: this operation has no query parameters'));
});

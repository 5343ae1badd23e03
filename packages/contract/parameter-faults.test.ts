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

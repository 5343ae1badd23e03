import { expect, test } from 'vitest';
import { groupIccid, shortenIccid } from './iccid.ts';

test.each([
  ['8944500102198304826', '8944 5001 0219 8304 826', '8944 5001 … 4826'],
  ['894450010219830', '8944 5001 0219 830', '8944 5001 … 9830'],
])('the ICCID %s is grouped by four, with its middle left out where it must be', (iccid, grouped, short) => {
  expect(groupIccid(iccid)).toBe(grouped);
  expect(shortenIccid(iccid)).toBe(short);
});

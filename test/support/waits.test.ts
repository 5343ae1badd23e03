import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { waitMsMax } from './wait-limit.ts';

const files = ['src', 'console', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);

test('no test waits longer than 20 seconds for what does not come', () => {
  expect(waitMsMax).toBe(process.env.CI === undefined ? 20_000 : 80_000);
  const { expect: expectation } = config.test ?? {};
  expect(expectation?.poll?.timeout).toBeLessThanOrEqual(waitMsMax);
  const longer = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\btimeout: ?([\d_]+)/g)]
      .filter(([, ms = '']) => Number(ms.replaceAll('_', '')) > waitMsMax)
      .map(([text]) => `${file}: ${text}`),
  );
  expect(longer).toEqual([]);
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consolesFolder } from '../../tools/build-console.ts';
import { licenseTexts } from '../../tools/license-texts.ts';

test('the licenses beside the consoles name every package whose code they contain, with its text', () => {
  const text = readFileSync(join(consolesFolder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = ['preact', '@preact/signals', '@preact/signals-core', 'lucide', 'd3-scale', 'd3-array'];
  for (const name of [...bundled, 'hucre'])
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n\\n[^]*?Permission`, 'm'));
  expect(text).not.toMatch(/^vitest /m);
  // no code
  expect(text).not.toMatch(/^(?:import|export) /m);
});

test('a package without a license file cannot be bundled', () => {
  const folder = join(tmpdir(), `subreport-${crypto.randomUUID()}/node_modules/nameless`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"nameless","version":"1.0.0"}');
  expect(() => licenseTexts([join(folder, 'index.js')])).toThrow('Cannot bundle nameless');
});

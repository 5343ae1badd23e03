import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { imageName, readmePictures } from '../../../tools/screenshots/pictures.ts';

test('the README shows each picture that the command for screenshots takes for it', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  for (const picture of readmePictures) expect(readme).toContain(`docs/images/${imageName(picture)}.png`);
});

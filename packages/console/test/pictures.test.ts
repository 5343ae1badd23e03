import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readmePictures } from '../../../tools/screenshots/pictures.ts';
import { imageName } from '../../../tools/screenshots/write-readme-pictures.ts';

test('the README shows each picture that the command for screenshots takes for it', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  for (const picture of readmePictures) expect(readme).toContain(`docs/images/${imageName(picture)}.png`);
});

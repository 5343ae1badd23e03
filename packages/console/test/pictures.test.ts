import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../../../test/support/chromium.ts';
import { startDemoService } from '../../../tools/screenshots/demo-service.ts';
import { readmePictures } from '../../../tools/screenshots/pictures.ts';
import { imageName, imagesFolder, readFingerprints } from '../../../tools/screenshots/write-readme-pictures.ts';

const remedy = 'the pictures of the README are older than the pages: run npm run screenshots -- --readme';

test('the README shows each picture that the command for screenshots takes for it', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  for (const picture of readmePictures) expect(readme).toContain(`docs/images/${imageName(picture)}.png`);
});

test.skipIf(!hasChromium)('the pictures of the README show the pages as they are now', async () => {
  const stored = JSON.parse(readFileSync(`${imagesFolder}fingerprints.json`, 'utf8'));
  const service = await startDemoService();
  const browser = await launchChromium();
  try {
    expect(await readFingerprints(browser, service), remedy).toEqual(stored);
  } finally {
    await browser.close();
    await service.stop();
  }
});

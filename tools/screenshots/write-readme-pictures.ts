import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { DemoService } from './demo-service.ts';
import { fingerprintOf } from './fingerprint.ts';
import { readmePictures } from './pictures.ts';
import { settle, signIn } from './visit.ts';

/** The folder of the README's pictures and of the fingerprints of their pages. */
export const imagesFolder = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/** File of a picture without its extension. */
export const imageName = ({ console, name }: { readonly console: string; readonly name: string }): string =>
  `${console}-${name}`;

/** Visits the pages of the README and passes each to `onPage`; returns their fingerprints. */
export async function readFingerprints(
  browser: Browser,
  service: DemoService,
  onPage: (name: string, screenshot: () => Promise<Buffer>) => Promise<void> = async () => undefined,
): Promise<Readonly<Record<string, string>>> {
  const fingerprints: Record<string, string> = {};
  for (const picture of readmePictures) {
    const storageState = await signIn(browser, service, picture.console);
    const viewport = { width: 1280, height: 800 };
    const context = await browser.newContext({ storageState, viewport, colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(service.origins[picture.console] + picture.path);
    await settle(page);
    fingerprints[imageName(picture)] = await fingerprintOf(page);
    await onPage(imageName(picture), () => page.screenshot());
    await context.close();
  }
  return fingerprints;
}

/** Takes the pictures of the README and writes them with their fingerprints. */
export async function writeReadmePictures(browser: Browser, service: DemoService): Promise<void> {
  mkdirSync(imagesFolder, { recursive: true });
  const fingerprints = await readFingerprints(browser, service, async (name, screenshot) =>
    writeFileSync(`${imagesFolder}${name}.png`, await screenshot()),
  );
  writeFileSync(`${imagesFolder}fingerprints.json`, `${JSON.stringify(fingerprints, null, 2)}\n`);
}

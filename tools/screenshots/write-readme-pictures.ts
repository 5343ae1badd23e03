import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { DemoService } from './demo-service.ts';
import { readmePictures } from './pictures.ts';
import { settle, signIn } from './visit.ts';

const imagesFolder = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/** File of a picture without its extension. */
export const imageName = ({ console, name }: { readonly console: string; readonly name: string }): string =>
  `${console}-${name}`;

/** Takes the pictures of the README. */
export async function writeReadmePictures(browser: Browser, service: DemoService): Promise<void> {
  mkdirSync(imagesFolder, { recursive: true });
  for (const picture of readmePictures) {
    const storageState = await signIn(browser, service, picture.console);
    const viewport = { width: 1280, height: 800 };
    const context = await browser.newContext({ storageState, viewport, colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(service.origins[picture.console] + picture.path);
    await settle(page);
    await page.screenshot({ path: `${imagesFolder}${imageName(picture)}.png` });
    await context.close();
  }
}

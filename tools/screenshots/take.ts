import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../test/support/chromium.ts';
import { buildConsoles, consolesFolder } from '../build-console.ts';
import { startDemoService } from './demo-service.ts';
import { imageName, type Picture, pictures, readmePictures } from './pictures.ts';
import { visitPictures } from './visit.ts';

// Takes a picture of each page of the consoles in both themes and four widths, from a service with
// the data of the demo: `npm run screenshots`. `--only NAME` takes the pages whose name contains
// NAME, `--console operator` those of one console, `--widths 360,2560` takes other widths, `--out
// FOLDER` writes elsewhere than dist/screenshots/, and `--readme` writes the pictures of the README
// instead.

const themes = ['light', 'dark'] as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    console: { type: 'string', default: '' },
    out: { type: 'string', default: fileURLToPath(new URL('../../dist/screenshots/', import.meta.url)) },
    widths: { type: 'string', default: '390,768,1280,1920' },
    readme: { type: 'boolean', default: false },
  },
});

// the widest first: a list of columns closes where there are no columns
const widths = values.widths
  .split(',')
  .map(Number)
  .toSorted((a, b) => b - a);
const wanted = pictures.filter(({ name, console: of }) => name.includes(values.only) && of.startsWith(values.console));
await buildConsoles(consolesFolder);
const service = await startDemoService();
const browser = await launchChromium();
try {
  for (const colorScheme of values.readme ? (['light'] as const) : themes)
    await visitPictures(browser, service, values.readme ? readmePictures : wanted, {
      colorScheme,
      onPage: async (page, picture) => {
        if (values.readme) await takeForReadme(page, picture);
        else for (const width of widths) await take(page, picture, colorScheme, width);
      },
      onError: (picture, message) => fault(picture, colorScheme, message),
    });
} finally {
  await browser.close();
  await service.stop();
}

async function take(page: Page, picture: Picture, theme: string, width: number): Promise<void> {
  const folder = join(values.out, picture.console);
  mkdirSync(folder, { recursive: true });
  const least = width < 768 ? 844 : 900;
  await resize(page, width, least);
  // the whole page in one window: what is fixed to its edges is drawn once, at the edges
  await resize(page, width, Math.max(least, await page.evaluate(() => document.documentElement.scrollHeight)));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) fault(picture, theme, `at ${width} px it is ${wide} px wider than the window`);
  await page.screenshot({ path: join(folder, `${picture.name}-${width}-${theme}.png`) });
}

async function takeForReadme(page: Page, picture: Picture): Promise<void> {
  await resize(page, 1280, 800);
  const path = fileURLToPath(new URL(`../../docs/images/${imageName(picture)}.png`, import.meta.url));
  await page.screenshot({ path });
}

async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  // a page that follows its width draws in the next frame
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

function fault(picture: Picture, theme: string, text: string): void {
  console.error(`${picture.console} ${picture.name} (${theme}): ${text}`);
  process.exitCode = 1;
}

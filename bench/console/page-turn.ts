import { parseArgs } from 'node:util';
import { launchChromium } from '../../test/support/chromium.ts';
import { buildConsoles, consolesFolder } from '../../tools/build-console.ts';
import { startDemoService } from '../../tools/screenshots/demo-service.ts';
import { settle, signIn } from '../../tools/screenshots/visit.ts';
import { median } from '../support/median.ts';

// Measures what one page turn of the subscriptions costs the main thread of Chromium: CPU time in
// ms and elements, at 20 and 200 rows, 1280 px: `npm run bench -- page-turn`.

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '9' } },
});

await buildConsoles(consolesFolder);
const service = await startDemoService();
const browser = await launchChromium();
try {
  const storageState = await signIn(browser, service, 'report');
  console.log('| rows | page turn, ms of CPU, median | lowest | highest | elements |\n|---|---|---|---|---|');
  for (const rows of [20, 200]) {
    const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const taskMs = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
    };
    await page.goto(`${service.origins.report}/console/subscriptions?size=${rows}`);
    await settle(page);
    const turns: number[] = [];
    for (let turn = 0; turn < Number(values.turns); turn++) {
      const before = await taskMs();
      await page.keyboard.press(turn % 8 < 4 ? ']' : '[');
      await settle(page);
      turns.push((await taskMs()) - before);
    }
    const shown = [median(turns), Math.min(...turns), Math.max(...turns)].map((ms) => ms.toFixed(0));
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    console.log(`| ${rows} | ${shown.join(' | ')} | ${elements} |`);
    await context.close();
  }
} finally {
  await browser.close();
  await service.stop();
}

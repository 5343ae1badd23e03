import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { drawOne } from './draw.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What to check; by default the whole page with all rules. */
interface CheckOptions {
  /** Selector of a part of the page. */
  readonly part?: string;
  readonly rules?: readonly string[];
}

/** Rules that axe leaves out by default: those that only WCAG 2.2 has. */
const newestTag = 'wcag22aa';

/** How often each test has checked a page. */
const checks = new Map<string, number>();

/** Whether this run makes the next check of the current test. */
function isDrawn(): boolean {
  const { currentTestName = '' } = expect.getState();
  const count = (checks.get(currentTestName) ?? 0) + 1;
  checks.set(currentTestName, count);
  return drawOne([true, false, false], `${currentTestName} ${count}`)[0] === true;
}

/**
 * The rules of axe that a page breaks, each with the first element; none if this run does not make
 * the check. One takes a second of CPU time, so a run makes one of each three in a row of a test,
 * drawn by its seed; `ALL=1` makes all. A test of nothing else has at least three.
 */
export async function accessibilityFaults(page: Page, { part, rules = [] }: CheckOptions = {}): Promise<string[]> {
  if (!isDrawn()) return [];
  await page.locator('.report-rows[data-loading]').waitFor({ state: 'detached' }); // or rows fade
  // once per document: on a small page, compiling it takes longer than the check
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(`${source};0`);
  return page.evaluate(
    async ([selector, values, tag]) => {
      const { axe } = window as unknown as { axe: typeof Axe };
      // while a colour changes, its contrast may be too low
      const changes = document.getAnimations().filter((each) => each.effect?.getComputedTiming().endTime !== Infinity);
      await Promise.allSettled(changes.map(({ finished }) => finished));
      const newest = axe.getRules([tag]).map(({ ruleId }) => [ruleId, { enabled: true }]);
      const chosen =
        values.length > 0 ? { runOnly: { type: 'rule' as const, values } } : { rules: Object.fromEntries(newest) };
      // what passes is not collected, which takes longer
      const { violations } = await axe.run(selector ?? document, { resultTypes: ['violations'], ...chosen });
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    },
    [part, [...rules], newestTag] as [string | undefined, string[], string],
  );
}

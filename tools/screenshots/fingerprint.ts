import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';

/**
 * A hash of what a page looks like, whatever its data: the kinds of its elements, its headings and
 * labels without digits, and the style rules that apply to them. Rows after the first of a table
 * or list and the shapes of charts are data. A refactoring or a change of another page keeps it.
 */
export async function fingerprintOf(page: Page): Promise<string> {
  const description = await page.evaluate(describePage);
  return createHash('sha256').update(description.join('\n')).digest('hex').slice(0, 16);
}

/** Runs in the browser. */
function describePage(): string[] {
  const data =
    'tbody tr:nth-child(n + 2), main li:nth-child(n + 2), svg:not(.icon) *, [role=status], [role=row]:nth-child(n + 3)';
  const states =
    /\[(?:data|aria)-[^\]]*\]|::?(?:hover|focus|active|checked|disabled|before|after|backdrop|placeholder|selection)/;
  const elements = [...document.querySelectorAll('body *')].filter(
    (element) => element.checkVisibility() && element.closest(data) === null,
  );
  const kinds = elements.map(({ localName, classList }) => [localName, ...classList].join('.'));
  const words = elements
    .filter((element) => element.matches('h1, h2, th, label, nav a'))
    .map(({ textContent }) => textContent?.replace(/\d[\d.,]*/g, '#'));
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSStyleRule)
    .filter(({ selectorText }) => !states.test(selectorText) && elements.some((each) => each.matches(selectorText)));
  return [...new Set([...kinds, ...words])].sort().concat(rules.map(({ cssText }) => cssText)) as string[];
}

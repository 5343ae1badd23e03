import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';

/**
 * A hash of what a page looks like, whatever its data: the kinds of its elements, its headings,
 * labels and buttons without digits, and the style rules that apply to it. A refactoring or a
 * change of another page keeps it.
 */
export async function fingerprintOf(page: Page): Promise<string> {
  const description = await page.evaluate(describePage);
  return createHash('sha256').update(description.join('\n')).digest('hex').slice(0, 16);
}

/** Runs in the browser. */
function describePage(): string[] {
  const isShown = (element: Element): boolean => element.checkVisibility();
  const elements = [...document.querySelectorAll('body *')].filter(isShown);
  const kinds = elements
    .filter((element) => element.closest('svg')?.matches(':not(.icon)') !== true)
    .map(
      (element) => `${element.localName}.${element.getAttribute('class') ?? ''}[${element.getAttribute('role') ?? ''}]`,
    );
  const words = elements
    .filter((element) => element.matches('h1, h2, h3, th, label, nav a, .button'))
    .map((element) => `${element.localName} ${element.textContent?.replace(/\d[\d.,]*/g, '#')}`);
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).flatMap(flatten);
  const applied = rules.filter(({ selectorText }) => {
    const selector = selectorText.replace(
      /::?(?:hover|focus[\w-]*|active|before|after|backdrop|placeholder|selection)\b/g,
      '',
    );
    return selector.split(',').some((part) => part.trim() !== '' && document.querySelector(part) !== null);
  });
  return [...new Set([...kinds, ...words])].sort().concat(applied.map(({ cssText }) => cssText));

  function flatten(rule: CSSRule): CSSStyleRule[] {
    if (rule instanceof CSSStyleRule) return [rule];
    return rule instanceof CSSMediaRule && rule.conditionText !== 'print' ? [...rule.cssRules].flatMap(flatten) : [];
  }
}

import type { ConformReport } from './conform.ts';

/** The report as JUnit XML: a test case for each check, skipped if it is not applicable. */
export function writeJunit({ base_url, checks, failed, not_applicable }: ConformReport): string {
  const counts = `tests="${checks.length}" failures="${failed}" skipped="${not_applicable}"`;
  const cases = checks.map(({ id, sentence, result, seen }) => {
    const name = `name="${quote(`${id}: ${sentence}`)}" classname="conform"`;
    if (result === 'passed') return `  <testcase ${name}/>`;
    const element = result === 'failed' ? 'failure' : 'skipped';
    return `  <testcase ${name}><${element} message="${quote(seen)}"/></testcase>`;
  });
  const suite = `<testsuite name="${quote(base_url)}" ${counts}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${suite}\n${cases.join('\n')}\n</testsuite>\n`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters are not allowed in XML; servers may send any in their headers. */
const quote = (text: string): string =>
  text.replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, '?').replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');

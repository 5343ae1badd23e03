import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

// What a newcomer asks: docs/README.md links to the page or section that answers it.

const read = (page: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8');

/** A question, the link of docs/README.md that leads to its answer, and a part of the answer. */
const questions: readonly (readonly [question: string, link: string, answer: string])[] = [
  ['How do I see it running?', 'readers/tutorial.md', 'npm start'],
  ['How does my program get a token?', 'readers/tokens.md', 'grant_type=client_credentials'],
  ['How do I find the subscription of a SIM?', 'readers/report.md', '`iccid`'],
  ['How do I get all of them in one file?', 'readers/report.md#reading-the-whole-report', 'all=true'],
  ['How many are active?', 'readers/summary.md', '"ACTIVE"'],
  ['What changed since my last visit?', 'readers/changes.md', 'since='],
  ['What does this error mean?', 'readers/errors.md', '`INVALID_REQUEST_PARAMS`'],
  ['How do I run it on my server?', 'operators/deployment.md', 'systemctl enable --now'],
  ['How do I load my subscriptions?', 'operators/import.md', 'subreport import '],
  ['How do I upgrade, restore, or move to PostgreSQL?', 'operators/day-two.md', '[move to PostgreSQL or Citus]'],
];

/** The page of a link, or its section up to the next heading that is not below it. */
function answerAt(link: string): string {
  const [page = '', anchor] = link.split('#');
  const text = read(page);
  if (anchor === undefined) return text;
  const isHeading = (line: string): boolean =>
    /^#+ /.test(line) &&
    line
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-') === anchor;
  const lines = text.split('\n');
  const start = lines.findIndex(isHeading);
  const end = lines.findIndex((line, at) => at > start && /^##? /.test(line));
  return lines.slice(start, end < 0 ? undefined : end).join('\n');
}

describe('docs/README.md answers within one hop', () => {
  test.each(questions)('%s', (_question, link, answer) => {
    expect(read('README.md')).toContain(`](${link})`);
    expect(answerAt(link)).toContain(answer);
  });
});

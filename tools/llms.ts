import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const source = 'https://raw.githubusercontent.com/subreport/subreport/main/';

/** The folders of docs that a language model may need, by the title of their section. */
const sections = { 'Read reports': 'docs/readers', 'Operate the service': 'docs/operators' };

const pagesOf = (folder: string): string[] =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`);

/** The first heading of a page. */
const titleOf = (page: string): string => /^# (.+)$/m.exec(page)?.[1] ?? '';

/** The first sentence of a page, without markup. */
function firstSentence(page: string): string {
  const paragraph = page.split('\n\n').find((each) => /^(?!```)[A-Za-z`[*]/.test(each)) ?? '';
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

const descriptionOf = (page: string): string => [':', firstSentence(page)].join(' ').replace(/^: $/, '');

/** `docs/llms.txt` (llmstxt.org): a list of the pages. */
export function llmsIndex(): string {
  const readme = read('README.md');
  const lists = Object.entries(sections).map(([title, folder]) => {
    const links = pagesOf(folder).map(
      (file) => `- [${titleOf(read(file))}](${source}${file})${descriptionOf(read(file))}`,
    );
    return `## ${title}\n\n${links.join('\n')}\n`;
  });
  const contract = ['openapi.json', 'openapi-operator.json', 'examples/README.md'];
  const others = contract.map((file) => `- [${file}](${source}${file})`);
  return [
    `# subreport\n\n> ${firstSentence(readme)}\n`,
    ...lists,
    `## Contract and examples\n\n${others.join('\n')}\n`,
  ].join('\n');
}

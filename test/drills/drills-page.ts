import type { Drill, Outcome } from './drill.ts';

const intro = `# Drills: the last runs

[docs/contributors/drills.md](../../docs/contributors/drills.md) says what a drill is and how to run one. What is expected is beside each script.
Written by \`npm run drill -- --write\`.
`;

const header = ['drill', 'fault', 'observed', 'last run'];
const lineOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;

/** The page test/drills/results.md with new outcomes; drills that were not run keep their rows. */
export function drillsPage(
  drills: readonly Drill[],
  outcomes: readonly Outcome[],
  before: string,
  day: string,
): string {
  const rowOf = (drill: Drill): string => {
    const outcome = outcomes.find(({ name }) => name === drill.name);
    const earlier = before.split('\n').find((line) => line.startsWith(`| \`${drill.name}\` |`));
    return outcome === undefined
      ? (earlier ?? lineOf([`\`${drill.name}\``, drill.fault, '', 'never']))
      : lineOf(cellsOf(outcome, day));
  };
  const table = [lineOf(header), lineOf(header.map(() => '---')), ...drills.map(rowOf)];
  return `${intro}\n${table.join('\n')}\n`;
}

const cellsOf = ({ name, fault, observed, ok }: Outcome, day: string): string[] => [
  `\`${name}\``,
  fault,
  ok === 'yes' ? 'as expected' : `**${ok}**: ${observed}`,
  day,
];

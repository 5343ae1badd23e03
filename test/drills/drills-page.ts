import type { Drill, Outcome } from './drill.ts';

const intro = `# Drills: what was expected and observed

[docs/contributing/drills.md](../../docs/contributing/drills.md) says what a drill is and how to run one.
`;

const header = ['drill', 'fault', 'expected', 'observed', 'ok', 'last run'];
const lineOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;

/** The page bench/results/drills.md with new outcomes; drills that were not run keep their rows. */
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
      ? (earlier ?? lineOf([`\`${drill.name}\``, drill.fault, '', '', '', 'never']))
      : lineOf(cellsOf(outcome, day));
  };
  const table = (isScripted: boolean): string =>
    [
      lineOf(header),
      lineOf(header.map(() => '---')),
      ...drills.filter((drill) => 'run' in drill === isScripted).map(rowOf),
    ].join('\n');
  return `${intro}
## Scripts

Written by \`npm run drill -- --write\`. "=" means that the observation was exactly what is expected.

${table(true)}

## Faults that tests plant

${table(false)}
`;
}

const cellsOf = ({ name, fault, expected, observed, ok }: Outcome, day: string): string[] => [
  `\`${name}\``,
  fault,
  expected,
  observed === expected ? '=' : observed,
  ok === 'yes' ? 'yes' : `**${ok}**`,
  day,
];

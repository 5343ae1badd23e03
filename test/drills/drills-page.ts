import type { Drill, Outcome } from './drill.ts';

const intro = `# Drills

A drill plants a fault on a real service and compares what it observes with what is expected. Run drills before a release, after a change of the machine, or to learn what an alert looks
like.

\`\`\`sh
npm run drill                                  # every drill
npm run drill -- list                          # names and faults
npm run drill -- disk-full keys-rotated        # some of them
npm run drill -- disk-full --program '/usr/bin/subreport'   # an installed build instead of the sources
npm run drill -- night-on-call --json          # for programs
npm run drill -- --write                       # also writes the tables below
\`\`\`

The exit code is 0 if everything was observed as expected, 1 if something was not, and 3 if all observations were as expected but some drills could not run on this machine.
The table marks those with **NOT RUN** and says what is missing.

- Each drill starts its own service and PostgreSQL server in temporary folders, and kills only processes that it started.
- Drills await events and count; they never assert that something is fast. \`--seed 7\` repeats the random choices of a run.
- \`clock-jumps\` and \`clock-back-at-limit\` need Debian's \`libfaketime\`, \`night-on-call\` needs \`prometheus\`. Drills of full disks mount file systems in memory, which needs root.
- CI runs the short drills as tests (\`test/drills/drills.test.ts\`). The faults of the second table are planted by tests, which \`npm run drill\` runs too.
- Long runs have commands of their own: \`npm run soak\` for memory, \`npm run simulate\` for random histories of faults.
`;

const header = ['drill', 'fault', 'expected', 'observed', 'ok', 'last run'];
const lineOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;

/** The page docs/drills.md with new outcomes; drills that were not run keep their rows. */
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

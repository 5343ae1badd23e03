import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median } from '../support/median.ts';
import { machineFacts } from '../support/results.ts';

// CPU time of `subreport --version` compared with `node -e 0`, in pairs: the median of the ratios.
// `npm run bench:version` writes the results; `node bench/cli/version.ts NODE...` only prints those
// of other versions of Node, such as 20, whose launcher starts a second process for all other
// commands.
const launcher = fileURLToPath(new URL('../../src/cli/subreport.mjs', import.meta.url));
const pairs = 15;
/** The shell's `times` has whole milliseconds or ten of them: runs are measured together. */
const runsPerPair = 8;

const goal = 1.6;

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath];
const rows = nodes.map((node) => {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const measured = Array.from({ length: pairs }, () => {
    const bare = cpuMs([node, '-e', '0']);
    return { bare, ours: cpuMs([node, launcher, '--version']) };
  });
  const ratios = measured.map(({ bare, ours }) => ours / bare).sort((a, b) => a - b);
  const bareMs = median(measured.map(({ bare }) => bare)).toFixed(0);
  const oursMs = median(measured.map(({ ours }) => ours)).toFixed(0);
  const ratio = median(ratios);
  const cells = [
    version,
    `${oursMs} ms`,
    `${bareMs} ms`,
    `**${ratio.toFixed(2)}** (${ratios[0]?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)})`,
    `≤ ${goal}: ${ratio <= goal ? 'met' : 'missed'}`,
  ];
  return `| ${cells.join(' | ')} |`;
});
const text = `# The command line

Written by \`npm run bench:version\`: ${machineFacts()}.

CPU time of one run, its child processes included; ${pairs} pairs of ${runsPerPair} runs each. Medians; the ratio is the median of the ratios within a pair, with the least and the
greatest in brackets.

| Node | \`subreport --version\` | \`node -e 0\` | ratio | goal |
|---|---|---|---|---|
${rows.join('\n')}
`;
console.log(text);
if (process.argv.length === 2) writeFileSync(new URL('../results/version.md', import.meta.url), text);

/** CPU time of a command in milliseconds, with its child processes. */
function cpuMs(command: readonly string[]): number {
  const loop = `for i in $(seq ${runsPerPair}); do "$@" >/dev/null; done; times`;
  const printed = execFileSync('bash', ['-c', loop, 'bash', ...command], { encoding: 'utf8' });
  const children = printed.trim().split('\n').at(-1) ?? '';
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return ((seconds[0] ?? 0) + (seconds[1] ?? 0)) * (1000 / runsPerPair);
}

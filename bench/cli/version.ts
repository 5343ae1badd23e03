import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../support/median.ts';

// CPU time of `subreport --version` compared with `node -e 0`, in pairs: the median of the ratios.
// `node bench/cli/version.ts [NODE...]` takes other versions of Node, such as 20, whose launcher
// starts a second process for all other commands.
const launcher = fileURLToPath(new URL('../../src/cli/subreport.mjs', import.meta.url));
const pairs = 15;
/** The shell's `times` has whole milliseconds or ten of them: runs are measured together. */
const runsPerPair = 8;

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath];
for (const node of nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const measured = Array.from({ length: pairs }, () => {
    const bare = cpuMs([node, '-e', '0']);
    return { bare, ours: cpuMs([node, launcher, '--version']) };
  });
  const ratios = measured.map(({ bare, ours }) => ours / bare).sort((a, b) => a - b);
  const bareMs = median(measured.map(({ bare }) => bare)).toFixed(0);
  const oursMs = median(measured.map(({ ours }) => ours)).toFixed(0);
  console.log(
    `${version}: subreport --version ${oursMs} ms, node -e 0 ${bareMs} ms of CPU; ratio ${median(ratios).toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`,
  );
}

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

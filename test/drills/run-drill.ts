import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../simulation/random.ts';
import type { Need, Outcome, ScriptedDrill } from './drill.ts';
import { faketime } from './faketime.ts';
import { hasCommands } from './has-commands.ts';
import { type Setting, Stage } from './stage.ts';

/** A drill that is not over by then hangs; the longest takes less than a minute. */
const msMax = 600_000;

/** Why each need is missing here, if it is. */
const missing: Readonly<Record<Need, () => string | undefined>> = {
  Linux: () => (process.platform === 'linux' ? undefined : 'it needs Linux'),
  tmpfs: () => (canMount() ? undefined : 'it must be allowed to mount a file system (tmpfs), as root is'),
  libfaketime: () => (existsSync(faketime) ? undefined : 'install libfaketime'),
  Prometheus: () =>
    hasCommands('prometheus', 'promtool', 'psql', 'jq', 'curl')
      ? undefined
      : 'install prometheus, postgresql-client, jq and curl',
};

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-disk-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' }).status === 0;
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
}

/** Runs a drill on a stage of its own; never throws. */
export async function runDrill(drill: ScriptedDrill, setting: Setting, seed: number): Promise<Outcome> {
  const { name, fault, expected, needs = [] } = drill;
  const lacks = needs.flatMap((need) => missing[need]() ?? []);
  if (lacks.length > 0) return { name, fault, expected, observed: lacks.join(', '), ok: 'NOT RUN' };
  const stage = new Stage(setting, new Random(seed));
  const limit = AbortSignal.timeout(msMax);
  const isOver = new Promise<never>((_, reject) =>
    limit.addEventListener('abort', () => reject(new Error(`it was not over after ${msMax / 1000} s`))),
  );
  let observed: string;
  try {
    observed = await Promise.race([drill.run(stage), isOver]);
  } catch (error) {
    observed = `${error}`;
  }
  await stage.close().catch((error) => {
    observed += `; then ${error}`;
  });
  const ok = observed === expected ? 'yes' : 'NO';
  return { name, fault, expected, observed, ok, session: stage.session.join('\n') };
}

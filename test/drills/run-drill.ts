import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../simulation/random.ts';
import type { Drill, Need, Outcome } from './drill.ts';
import { faketime } from './faketime.ts';
import { hasCommands } from './has-commands.ts';
import { canLimitMemory } from './limited-memory.ts';
import { type Setting, Stage } from './stage.ts';

/** A drill that is not over by then hangs; those of memory take some minutes. */
const limits = { runMs: 600_000, closeMs: 60_000 };

/** Why each need is missing here, if it is. */
const missing: Readonly<Record<Need, () => string | undefined>> = {
  Linux: () => (process.platform === 'linux' ? undefined : 'it needs Linux'),
  tmpfs: () => {
    const reason = mountFailure();
    return reason && `it must be allowed to mount a file system (tmpfs), as root is: ${reason}`;
  },
  'control groups': () => (canLimitMemory() ? undefined : 'it must be allowed to create control groups, as root is'),
  libfaketime: () => (existsSync(faketime) ? undefined : 'install libfaketime'),
  Prometheus: () =>
    hasCommands('prometheus', 'promtool', 'psql', 'jq', 'curl')
      ? undefined
      : 'install prometheus, postgresql-client, jq and curl',
};

/** Why no file system can be mounted here, if none can. */
function mountFailure(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-disk-'));
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { encoding: 'utf8' });
  if (status === 0) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

/** Runs a drill on a stage of its own; never throws, and ends even if the drill does not. */
export async function runDrill(
  drill: Drill,
  setting: Setting,
  seed: number,
  { runMs, closeMs } = limits,
): Promise<Outcome> {
  const { name, fault, expected, needs = [] } = drill;
  const lacks = needs.flatMap((need) => missing[need]() ?? []);
  if (lacks.length > 0) return { name, fault, expected, observed: lacks.join(', '), ok: 'NOT RUN' };
  const stage = new Stage(setting, new Random(seed));
  let observed: string;
  try {
    observed = await within(runMs, drill.run(stage), 'it');
  } catch (error) {
    observed = `${error}`;
  }
  await within(closeMs, stage.close(), 'its end').catch((error) => {
    observed += `; then ${error}`;
  });
  const ok = observed === expected ? 'yes' : 'NO';
  return { name, fault, expected, observed, ok, session: stage.session.join('\n') };
}

async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} was not over after ${ms / 1000} s`)), ms);
  return Promise.race([work, isOver]).finally(() => clearTimeout(timer));
}

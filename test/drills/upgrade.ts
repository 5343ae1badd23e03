import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ScriptedDrill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import { changedAsKept, earlier, keepMoment, lookAtHistory, readMoment } from './history.ts';
import type { Stage } from './stage.ts';

// The upgrade of a store that a released version has filled.

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The last commit of 0.1.0, of the last version that this one does not let in, and of the oldest
 * one that it does.
 */
const versions = {
  '0.1.0': '363f919',
  'without open values': '9b10756b^',
  'of the first open values': '870d9b8b^',
} as const;

/** The program of a version, from git, with the packages of this one. */
export function checkOut(stage: Stage, version: keyof typeof versions): readonly [string, ...string[]] {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-release-'));
  stage.defer(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', versions[version]], { cwd: root, maxBuffer: 1e9 });
  execFileSync('tar', ['--extract'], { cwd: folder, input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return [process.execPath, join(folder, 'src/cli/main.ts')];
}

type Environment = Readonly<Record<string, string>>;

/** What 0.1.0 has filled: three tenants of 3,000 records each. */
export interface FilledRelease {
  readonly program: readonly [string, ...string[]];
  /** Runs a command of 0.1.0, which must succeed; returns its output. */
  readonly run: (...args: string[]) => Promise<string>;
  /** May read the records of `acme`. */
  readonly client: Readonly<Record<'client_id' | 'client_secret', string>>;
}

export async function fillWithRelease(stage: Stage, environment: Environment): Promise<FilledRelease> {
  const program = checkOut(stage, '0.1.0');
  const run = async (...args: string[]): Promise<string> =>
    (await stage.succeed(args, { environment, program })).stdout;
  await run('migrate');
  for (const tenant of ['acme', 'beta', 'gamma']) {
    await run('tenant', 'create', tenant);
    await run('generate', '--tenant', tenant, '--subscriptions', '3000', '--seed', '7');
  }
  return { program, run, client: JSON.parse(await run('client', 'create', '--tenant', 'acme', '--json')) };
}

/**
 * Loads rows into `acme` by the command of this version, or of another one; throws unless they were
 * loaded.
 */
export const importInto =
  (stage: Stage, environment: Environment, program?: readonly [string, ...string[]]) => (input: string) =>
    stage.succeed(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], {
      environment,
      input,
      ...(program !== undefined && { program }),
    });

/** Where a store can be. */
const engines = {
  sqlite: async (stage: Stage): Promise<Environment> => ({ DATA_DIR: join(stage.folder, 'upgraded') }),
  postgres: async (stage: Stage): Promise<Environment> => (await stage.emptyPostgres()).environment,
} as const;

const besideEach = `the last version without open values is refused; beside the first one with them: import 0, the former report of before as it was, its own as it was; ${changedAsKept}`;

export const upgradeDrills: readonly ScriptedDrill[] = (['sqlite', 'postgres'] as const).map((engine) => ({
  name: `upgrade-${engine}`,
  fault: `a ${engine} store that 0.1.0 has filled is upgraded, changed, changed by a program that keeps no history, by an older version that runs beside this one, and by this one`,
  expected: `migrate 0; report 200 of 3000; before the upgrade 410 HISTORY_NOT_KEPT; ${changedAsKept}; 0.1.0 is refused; after a change without history: before it 410 HISTORY_NOT_KEPT; ${changedAsKept}; ${besideEach}; doctor 0`,
  async run(stage) {
    const environment = await engines[engine](stage);
    const old = await fillWithRelease(stage, environment);
    const { code: migrated } = await stage.run(['migrate'], { environment });
    const service = await stage.serve({ environment, client: old.client });
    await service.logIn();
    const report = `report ${await service.report()} of ${await service.total()}`;
    const upgraded = await keepMoment(service);
    const before = await readMoment(service, earlier(upgraded));
    const load = importInto(stage, environment);
    const after = await lookAtHistory(stage, service, load);
    const moment = await keepMoment(service);
    const refused = await refusalOf(old.run('tenant', 'list'));
    await importInto(stage, { ...environment, HISTORY_DAYS: '0' })(stage.rows(10));
    const without = `before it ${await readMoment(service, moment)}; ${await lookAtHistory(stage, service, load)}`;
    const beside = await lookBeside(stage, service, environment);
    const { code } = await stage.run(['doctor'], { environment });
    return `migrate ${migrated}; ${report}; before the upgrade ${before}; ${after}; 0.1.0 is ${refused}; after a change without history: ${without}; ${beside}; doctor ${code}`;
  },
}));

/** Whether an older version refuses the store; otherwise what it says. */
const refusalOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'not refused',
    (error) => (/migrated by a newer version/.test(error) ? 'refused' : String(error)),
  );

/** Changes records by older versions of the program while a service of this one runs. */
async function lookBeside(stage: Stage, service: DrilledService, environment: Environment): Promise<string> {
  const load = importInto(stage, environment);
  const [last, first] = [checkOut(stage, 'without open values'), checkOut(stage, 'of the first open values')];
  const refused = await refusalOf(importInto(stage, environment, last)(stage.rows(10, 'older')));
  const before = await keepMoment(service);
  const { code } = await importInto(stage, environment, first)(stage.rows(10, 'older'));
  const between = await keepMoment(service);
  const after = await lookAtHistory(stage, service, load);
  return `the last version without open values is ${refused}; beside the first one with them: import ${code}, the former report of before ${await readMoment(service, before)}, its own ${await readMoment(service, between)}; ${after}`;
}

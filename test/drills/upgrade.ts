import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../support/bundle-program.ts';
import { makeNewerVersion } from '../support/newer-version.ts';
import { mainProgram } from '../support/run-command.ts';
import type { ScriptedDrill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import { changedAsKept, type KeptMoment, keepMoment, lookAtHistory, readMoment } from './history.ts';
import type { Stage } from './stage.ts';

// The upgrade of a store that the version before has filled.

const root = fileURLToPath(new URL('../../', import.meta.url));

type Environment = Readonly<Record<string, string>>;
type Program = readonly [string, ...string[]];

/** Two versions of the program that can use one store. */
interface Versions {
  readonly older: Program;
  readonly newer: Program;
}

/**
 * The last release and this version. Until there is a release: this version, and a copy of it with
 * one more migration.
 */
async function findVersions(stage: Stage): Promise<Versions> {
  const own: Program = stage.setting.program ?? [process.execPath, mainProgram];
  const { stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^'], {
    cwd: root,
    encoding: 'utf8',
  });
  const release = stdout.trim();
  if (release !== '') return { older: checkOut(stage, release), newer: own };
  const copy = makeNewerVersion({ compatible: true, program: await bundleProgram() });
  stage.defer(() => copy.remove());
  return { older: own, newer: [process.execPath, copy.main] };
}

/** The program of a tag, from git, with the packages of this version. */
function checkOut(stage: Stage, tag: string): Program {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-release-'));
  stage.defer(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', tag], { cwd: root, maxBuffer: 1e9 });
  execFileSync('tar', ['--extract'], { cwd: folder, input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return [process.execPath, join(folder, 'packages/service/cli/main.ts')];
}

/** A store that the older version has filled: three tenants of 3,000 records each. */
interface FilledStore extends Versions {
  /** May read the records of `acme`. */
  readonly client: Readonly<Record<'client_id' | 'client_secret', string>>;
  /** The report of `acme` as the older version sent it. */
  readonly moment: KeptMoment;
}

export async function fillWithOlder(stage: Stage, environment: Environment): Promise<FilledStore> {
  const versions = await findVersions(stage);
  const program = versions.older;
  const run = async (...args: string[]): Promise<string> =>
    (await stage.succeed(args, { environment, program })).stdout;
  await run('migrate');
  for (const tenant of ['acme', 'beta', 'gamma']) {
    await run('tenant', 'create', tenant);
    await run('generate', '--tenant', tenant, '--subscriptions', '3000', '--seed', '7');
  }
  const client = JSON.parse(await run('client', 'create', '--tenant', 'acme', '--json'));
  const service = await stage.serve({ environment, client }, { program });
  await service.logIn();
  const moment = await keepMoment(service);
  await service.stop();
  return { ...versions, client, moment };
}

/** Loads rows into `acme` by the command of a version; throws unless they were loaded. */
export const importInto = (stage: Stage, environment: Environment, program: Program) => (input: string) =>
  stage.succeed(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], { environment, input, program });

/** Where a store can be. */
const engines = {
  sqlite: async (stage: Stage): Promise<Environment> => ({ DATA_DIR: join(stage.folder, 'upgraded') }),
  postgres: async (stage: Stage): Promise<Environment> => (await stage.emptyPostgres()).environment,
} as const;

export const upgradeDrills: readonly ScriptedDrill[] = (['sqlite', 'postgres'] as const).map((engine) => ({
  name: `upgrade-${engine}`,
  fault: `a ${engine} store that the version before has filled is upgraded, changed, changed by a program that keeps no history, by the version before that runs beside this one, and by this one`,
  expected: `migrate 0; report 200 of 3000; the report of before as it was; ${changedAsKept}; after a change without history: before it 410 HISTORY_NOT_KEPT; ${changedAsKept}; beside the version before: import 0, the former report of before as it was, its own as it was; ${changedAsKept}; doctor 0`,
  async run(stage) {
    const environment = await engines[engine](stage);
    const { older, newer, client, moment } = await fillWithOlder(stage, environment);
    const { code: migrated } = await stage.run(['migrate'], { environment, program: newer });
    const service = await stage.serve({ environment, client }, { program: newer });
    await service.logIn();
    const report = `report ${await service.report()} of ${await service.total()}; the report of before ${await readMoment(service, moment)}`;
    const load = importInto(stage, environment, newer);
    const after = await lookAtHistory(stage, service, load);
    const kept = await keepMoment(service);
    await importInto(stage, { ...environment, HISTORY_DAYS: '0' }, newer)(stage.rows(10));
    const without = `before it ${await readMoment(service, kept)}; ${await lookAtHistory(stage, service, load)}`;
    const beside = await lookBeside(stage, service, importInto(stage, environment, older));
    const again = await lookAtHistory(stage, service, load);
    const { code } = await stage.run(['doctor'], { environment, program: newer });
    return `migrate ${migrated}; ${report}; ${after}; after a change without history: ${without}; ${beside}; ${again}; doctor ${code}`;
  },
}));

/** Changes records by the older version while a service of the newer one runs. */
async function lookBeside(stage: Stage, service: DrilledService, load: ReturnType<typeof importInto>): Promise<string> {
  const before = await keepMoment(service);
  const { code } = await load(stage.rows(10, 'older'));
  const own = await keepMoment(service);
  return `beside the version before: import ${code}, the former report of before ${await readMoment(service, before)}, its own ${await readMoment(service, own)}`;
}

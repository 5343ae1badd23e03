import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../support/bundle-program.ts';
import { makeNewerVersion } from '../support/newer-version.ts';
import { mainProgram } from '../support/run-command.ts';
import type { Drill } from './drill.ts';
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
 * The program of the last release and that of this version. Until there is a release, the former
 * program is the first one with the same migrations, and the latter has one more.
 */
async function findVersions(stage: Stage): Promise<Versions> {
  const own: Program = stage.setting.program ?? [process.execPath, mainProgram];
  const release = git('describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^');
  if (release !== '') return { older: checkOut(stage, release), newer: own };
  const copy = makeNewerVersion({ compatible: true, program: await bundleProgram() });
  stage.defer(() => copy.remove());
  const before = firstWithMigrations();
  return { older: before === '' ? own : checkOut(stage, before), newer: [process.execPath, copy.main] };
}

/** The first commit with the migrations of this version; empty if the history does not reach it. */
const firstWithMigrations = (): string => git('log', '-1', '--format=%H', '--', 'packages/service/storage/migrations');

/** The trimmed output of git; empty if it fails. */
function git(...args: string[]): string {
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** The program of a tag or commit, from git, with the packages of this version. */
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
  /** The older version, which serves the store. */
  readonly service: DrilledService;
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
  return { ...versions, client, moment, service };
}

/** Loads rows into `acme` by the command of a version; throws unless they were loaded. */
export const importInto = (stage: Stage, environment: Environment, program: Program) => (input: string) =>
  stage.succeed(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], { environment, input, program });

/** Where a store can be. */
const engines = {
  sqlite: async (stage: Stage): Promise<Environment> => ({ DATA_DIR: join(stage.folder, 'upgraded') }),
  postgres: async (stage: Stage): Promise<Environment> => (await stage.emptyPostgres()).environment,
} as const;

export const upgradeDrills: readonly Drill[] = (['sqlite', 'postgres'] as const).map((engine) => ({
  name: `upgrade-${engine}`,
  fault: `a ${engine} store that the version before has filled is upgraded, changed, changed by a program that keeps no history, by the version before that runs beside this one, and by this one`,
  expected: `migrate 0, the version before serves the same report; report 200 of 3000; the report of before as it was; ${changedAsKept}; after a change without history: before it 410 HISTORY_NOT_KEPT; ${changedAsKept}; beside the version before: import 0, the former report of before as it was, its own as it was; ${changedAsKept}; doctor 0`,
  async run(stage) {
    const environment = await engines[engine](stage);
    const { older, newer, client, moment, service: before } = await fillWithOlder(stage, environment);
    const migrating = stage.run(['migrate'], { environment, program: newer });
    const meanwhile = await readUntil(migrating, before, moment);
    const migrated = `${(await migrating).code}, the version before serves ${meanwhile}`;
    await before.stop();
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

/** Reads the report until a command has ended and once more; says whether all were the same. */
async function readUntil(ended: Promise<unknown>, service: DrilledService, { report }: KeptMoment): Promise<string> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  ended.then(end, end);
  for (let last = false; !last; ) {
    last = hasEnded;
    const { status, text } = await service.ask('?all=true&format=ndjson');
    if (status !== 200 || text !== report) return `${status}, ANOTHER REPORT`;
  }
  return 'the same report';
}

/** Changes records by the older version while a service of the newer one runs. */
async function lookBeside(stage: Stage, service: DrilledService, load: ReturnType<typeof importInto>): Promise<string> {
  const before = await keepMoment(service);
  const { code } = await load(stage.rows(10, 'older'));
  const own = await keepMoment(service);
  return `beside the version before: import ${code}, the former report of before ${await readMoment(service, before)}, its own ${await readMoment(service, own)}`;
}

import { join } from 'node:path';
import type { Command } from 'commander';
import { durationText } from '../../contract/instant.ts';
import type { CallOperation } from '../../contract/operator/operations.ts';
import { profileName } from '../../terminal/connection.ts';
import { configFolder } from '../../terminal/environment.ts';
import { CommandError, UsageError } from '../../terminal/error.ts';
import { integerFrom } from '../../terminal/integer-option.ts';
import { countText, type Output, writeResult } from '../../terminal/output.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { type Profile, readProfile } from '../../terminal/profile.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { MirrorError } from '../mirror/error.ts';
import { Mirror } from '../mirror/mirror.ts';
import { Origin } from '../mirror/origin.ts';
import { MirrorState, type WalkState } from '../mirror/state.ts';
import { TenantTarget } from '../mirror/tenant.ts';
import { type Server, type ServerChoice, serverOf } from '../remote/server.ts';
import { callOn, UnavailableError } from '../remote/server-operations.ts';

interface MirrorOptions extends ServerChoice {
  readonly from?: string;
  readonly profile?: string;
  readonly toTenant: string;
  readonly state?: string;
  readonly once?: boolean;
  readonly status?: boolean;
  readonly json?: boolean;
  readonly maxRequestsPerMinute: number;
}

export function addMirrorCommand(program: Command, output: Output): void {
  program
    .command('mirror')
    .description('keep a tenant in step with an account of a Connect API v1 that somebody else operates')
    .option(
      '--from <profile>',
      "the profile of the origin, of 'subreport login' (default: SUBREPORT_PROFILE, or default)",
    )
    .option('--profile <name>', 'the same as --from')
    .requiredOption('--to-tenant <tenant>', 'the tenant: a new one without records, or the mirror itself')
    .option(
      '--server <url>',
      "the operator's API of the service that has the tenant (default: SUBREPORT_SERVER); the token comes from SUBREPORT_OPERATOR_TOKEN or SUBREPORT_OPERATOR_TOKEN_FILE, and has the scopes operator:read and subscription:write",
    )
    .option('--once', 'end after one whole walk')
    .option('--status', 'only show what the state file knows')
    .option('--state <file>', 'the state file (default: mirrors/PROFILE-TENANT.db beside the profiles)')
    .option('--json', 'print JSON')
    .option('--max-requests-per-minute <number>', 'requests to the origin, at most', integerFrom(1, 6_000, 60), 60)
    .addHelpText(
      'after',
      `
New records are read every five minutes if the origin can select them, all records at most once an hour. A record is
removed only if two complete walks whose counts agree have not seen it and a read by its ICCID does not find it.
After Ctrl-C or kill, run the same command again: it continues within the walk.

Examples:
  subreport mirror --from connect --to-tenant acme --server http://127.0.0.1:9464 --once
  subreport mirror --from connect --to-tenant acme --max-requests-per-minute 30
  subreport mirror --from connect --to-tenant acme --status --json`,
    )
    .action((options: MirrorOptions) => runReader((signal) => withMirrorErrors(() => mirror(options, signal, output))));
}

async function mirror(options: MirrorOptions, signal: AbortSignal, output: Output): Promise<void> {
  const name = profileName(options.from ?? options.profile);
  const file = options.state ?? join(configFolder(), 'mirrors', `${name}-${options.toTenant}.db`);
  if (options.status === true) return showStatus(file, options, output);
  const profile = readProfile(name);
  const server = requireServer(options);
  const state = MirrorState.open(file);
  try {
    const target = new TenantTarget(callOf(server), options.toTenant);
    const perMinute = Math.min(options.maxRequestsPerMinute, state.perMinute ?? Number.POSITIVE_INFINITY);
    const origin = new Origin(originOf(profile, signal), perMinute);
    const onEvent = (sentence: string) => void (options.json === true || output.stderr.write(`${sentence}\n`));
    const named = `${profile.base_url} ${profile.client_id}`;
    const running = new Mirror(origin, target, state, { name: named, onEvent, signal });
    await running.begin();
    if (options.once !== true) await running.follow();
    else if ((await running.runOnce()).fault !== null) process.exitCode = 1;
    writeStatus(state, options, output);
  } finally {
    state.close();
  }
}

function requireServer(options: MirrorOptions): Server {
  const server = serverOf(options);
  if (server !== undefined) return server;
  throw new UsageError(
    "Cannot run the mirror: --server or SUBREPORT_SERVER must be the URL of the operator's API of the tenant's service, such as --server http://127.0.0.1:9464",
  );
}

/** Calls the operations of a server. One that is unavailable is a fault of the target. */
function callOf(server: Server): CallOperation {
  const call = callOn(server);
  return (...args) =>
    call(...args).catch((error: unknown) => {
      if (!(error instanceof UnavailableError)) throw error;
      throw new MirrorError('TARGET_FAULT', error.message, { cause: error });
    });
}

const originOf = (profile: Profile, signal: AbortSignal) => ({
  baseUrl: profile.base_url,
  tokenUrl: profile.token_url,
  clientId: profile.client_id,
  clientSecret: profile.client_secret,
  allowHttp: profile.allow_http,
  userAgent: `subreport/${packageVersion}`,
  signal,
});

function showStatus(file: string, options: MirrorOptions, output: Output): void {
  const wasRead = MirrorState.read(file, (state) => {
    writeStatus(state, options, output);
    return true;
  });
  if (wasRead === undefined)
    throw new CommandError(
      `Cannot show the mirror: its state file must exist; run it first with: subreport mirror --to-tenant ${options.toTenant} --once: current value is '${file}'`,
    );
}

function writeStatus(state: MirrorState, { toTenant: tenant, json }: MirrorOptions, output: Output): void {
  const { newAsOf, changesAsOf } = state.ages;
  const walks = state.walks().map(describeWalk);
  const { records, removedIds, rejected } = state;
  const result = {
    tenant,
    records,
    removed_ids: removedIds,
    rejected,
    new_as_of: newAsOf,
    changes_as_of: changesAsOf,
    new_age_seconds: ageOf(newAsOf),
    changes_age_seconds: ageOf(changesAsOf),
    walks,
  };
  const lines = [
    `${tenant}: ${countText(records)} records (new: ${ageText(newAsOf)}, changes: ${ageText(changesAsOf)})`,
    `${removedIds.length} recently removed, ${rejected.length} rejected by the tenant`,
    ...walks.map(walkText),
  ];
  writeResult(output, json === true, result, lines.join('\n'));
}

const describeWalk = ({ number, startedAt, endedAt, page, seen, lastTotal, fault }: WalkState) => ({
  number,
  started_at: new Date(startedAt * 1000).toISOString(),
  ended_at: endedAt === null ? null : new Date(endedAt * 1000).toISOString(),
  next_page: page,
  records: seen,
  total: lastTotal,
  is_complete: endedAt !== null && fault === null,
  fault,
});

function walkText({
  number,
  started_at,
  ended_at,
  next_page,
  records,
  total,
  fault,
}: ReturnType<typeof describeWalk>): string {
  const end =
    ended_at === null ? `at page ${next_page}` : `${records} records${total === null ? '' : ` of a total of ${total}`}`;
  return `walk ${number} of ${started_at}: ${end}${fault === null ? '' : `; no evidence: ${fault}`}`;
}

const ageOf = (asOf: string | null): number | null =>
  asOf === null ? null : Math.max(0, Math.round((Date.now() - Date.parse(asOf)) / 1000));

function ageText(asOf: string | null): string {
  const seconds = ageOf(asOf);
  return seconds === null ? 'not yet' : durationText(seconds);
}

/** Exit code 2 for what the user must change, 1 for a failing origin or server. */
async function withMirrorErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw new (error.code === 'STATE' ? UsageError : CommandError)(error.message, { cause: error });
  }
}

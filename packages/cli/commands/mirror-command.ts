import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { durationText } from '../../contract/instant.ts';
import type { CallOperation } from '../../contract/operator/operations.ts';
import { guardCredentials, profileName } from '../../terminal/connection.ts';
import { configFolder } from '../../terminal/environment.ts';
import { CommandError, TemporaryError, UsageError } from '../../terminal/error.ts';
import { integerFrom } from '../../terminal/integer-option.ts';
import { outgoingFetch } from '../../terminal/outgoing/fetch.ts';
import { counted, countText, type Output, writeResult } from '../../terminal/output.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { printable } from '../../terminal/printable.ts';
import { type Profile, readProfile } from '../../terminal/profile.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { MirrorError } from '../mirror/error.ts';
import { Mirror } from '../mirror/mirror.ts';
import { Origin } from '../mirror/origin.ts';
import { type Doubt, MirrorState, type WalkState } from '../mirror/state.ts';
import { TenantTarget } from '../mirror/tenant.ts';
import { verifyTenant } from '../mirror/tenant-check.ts';
import { type Server, type ServerChoice, serverOf } from '../remote/server.ts';
import { callOn, UnavailableError } from '../remote/server-operations.ts';
import { isYetToCome } from '../sync/yet-to-come.ts';

interface MirrorOptions extends ServerChoice {
  readonly from?: string;
  readonly profile?: string;
  readonly toTenant: string;
  readonly state?: string;
  readonly once?: boolean;
  readonly status?: boolean;
  readonly json?: boolean;
  readonly reload?: boolean;
  readonly confirmRemovals?: number;
  readonly maxRequestsPerMinute?: number;
}

/** Requests to the origin a minute, unless the user says otherwise. */
const perMinuteDefault = 60;

/** Most differences that 'verify' names. */
const namedMax = 20;

export function addMirrorCommand(program: Command, output: Output): void {
  program
    .command('mirror')
    .addArgument(
      new Argument('[action]', 'verify: compare the tenant with what the mirror has sent').choices(['verify']),
    )
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
    .option('--reload', 'compare the tenant with what the mirror knows, and send all records again')
    .option(
      '--confirm-removals <number>',
      'with --once: remove at most this many records, such as the number that --status shows as held back; also accepts an account that was held back',
      integerFrom(0, 999_999_999, 60),
    )
    .option(
      '--max-requests-per-minute <number>',
      `most requests to the origin a minute (default: ${perMinuteDefault}); if given, an earlier slowdown after 429 is forgotten`,
      integerFrom(1, 6_000, perMinuteDefault),
    )
    .addHelpText(
      'after',
      `
New records are read every five minutes if the origin can select them, all records at most once an hour. A record is
removed only if two complete walks, an hour apart, have not seen it and reads by its ICCID and createdDate do not find
it. Many removals at once are held back until they are confirmed, or walks have agreed for a day.
After Ctrl-C or kill, run the same command again: it continues within the walk.

Examples:
  subreport mirror --from connect --to-tenant acme --server http://127.0.0.1:9464 --once
  subreport mirror --from connect --to-tenant acme --once --confirm-removals 60
  subreport mirror --from connect --to-tenant acme --max-requests-per-minute 30
  subreport mirror --from connect --to-tenant acme --status --json
  subreport mirror verify --from connect --to-tenant acme`,
    )
    .action((action: 'verify' | undefined, options: MirrorOptions) =>
      runReader((signal) =>
        withMirrorErrors(() => (action === 'verify' ? verify(options, output) : mirror(options, signal, output))),
      ),
    );
}

/** Compares the tenant with what the mirror has sent, record by record. */
async function verify(options: MirrorOptions, output: Output): Promise<void> {
  const file = stateFileOf(options);
  const call = callOf(requireServer(options));
  const { id, ages } = readState(file, options, (state) => ({ id: state.id, ages: state.ages }));
  const readSent = () => readState(file, options, (state) => state.sent());
  const compared = verifyTenant(new TenantTarget(call, options.toTenant, id), readSent);
  const { equal, unsent, changed, missing, altered, unknown } = await compared.catch((error: unknown) => {
    throw error instanceof MirrorError ? new TemporaryError(error.message, { cause: error }) : error;
  });
  const differences = [
    ...missing.map((record) => `${record}: sent by the mirror, not in the tenant`),
    ...altered.map((record) => `${record}: another version than the mirror has sent`),
    ...unknown.map((record) => `${record.id}: in the tenant, not sent by the mirror`),
  ];
  if (differences.length > 0) {
    const lines = differences.slice(0, namedMax).map((line) => `\n  ${printable(line)}`);
    throw new CommandError(
      `Cannot confirm the tenant: it must have what the mirror has sent; repair it with: subreport mirror --from ${profileName(options.from ?? options.profile)} --to-tenant ${options.toTenant} --once --reload: current value has ${counted(differences.length, 'difference')}${lines.join('')}`,
    );
  }
  if (unsent > 0 || ages.changesAsOf === null)
    throw new TemporaryError(
      `Cannot confirm the tenant yet: a walk must have sent all records: ${countText(unsent)} are to be sent or removed`,
    );
  const { newAsOf, changesAsOf } = ages;
  const also = changed === 0 ? '' : `; sent meanwhile, and not compared: ${countText(changed)}`;
  const sentence = `The tenant has what the mirror has sent: ${counted(equal, 'record')} (new: ${ageText(newAsOf)}, changes: ${ageText(changesAsOf)})${also}`;
  const result = { records: equal, sent_meanwhile: changed, new_as_of: newAsOf, changes_as_of: changesAsOf };
  writeResult(output, options.json === true, result, sentence);
}

const stateFileOf = ({ from, profile, toTenant, state }: MirrorOptions): string =>
  state ?? join(configFolder(), 'mirrors', `${profileName(from ?? profile)}-${toTenant}.db`);

async function mirror(options: MirrorOptions, signal: AbortSignal, output: Output): Promise<void> {
  const name = profileName(options.from ?? options.profile);
  const file = stateFileOf(options);
  if (options.status === true) return readState(file, options, (state) => writeStatus(state, options, output));
  if (options.confirmRemovals !== undefined && options.once !== true)
    throw new UsageError('Cannot confirm removals: --confirm-removals must be given with --once, for one walk');
  const profile = readProfile(name);
  guardCredentials(profile);
  const server = requireServer(options);
  const state = MirrorState.open(file);
  try {
    const target = new TenantTarget(callOf(server), options.toTenant);
    const given = options.maxRequestsPerMinute;
    const slowedTo = given === undefined ? state.perMinute : undefined;
    const origin = new Origin(originOf(profile, signal), given ?? perMinuteDefault, slowedTo);
    const onEvent = (sentence: string) => void (options.json === true || output.stderr.write(`${sentence}\n`));
    const named = `${profile.base_url} ${profile.client_id}`;
    const confirmed = options.confirmRemovals;
    const running = new Mirror(origin, target, state, { name: named, onEvent, confirmed, signal });
    await running.begin();
    if (options.reload === true) running.reload();
    if (options.once !== true) await running.follow();
    else if ((await running.runOnce()).fault !== null || isInDoubt(state)) process.exitCode = exitInDoubt;
    writeStatus(state, options, output);
  } finally {
    state.close();
  }
}

/** The walk has ended, but what the tenant has may differ from what the origin has. */
const exitInDoubt = 75;

function isInDoubt({ doubt: { heldBack, unconfirmed }, staleness: { rejected }, isDoubtful }: MirrorState): boolean {
  return isDoubtful || heldBack + unconfirmed + rejected > 0;
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
  fetch: outgoingFetch,
  signal,
});

/** Reads the state file, also beside a running mirror. */
function readState<T>(file: string, { toTenant }: MirrorOptions, work: (state: MirrorState) => T): T {
  const result = MirrorState.read(file, (state) => ({ value: work(state) }));
  if (result !== undefined) return result.value;
  throw new CommandError(
    `Cannot read the state of the mirror: its file must exist and be of this version; run it first with: subreport mirror --to-tenant ${toTenant} --once: current value is '${file}'`,
  );
}

function writeStatus(state: MirrorState, { toTenant: tenant, json }: MirrorOptions, output: Output): void {
  const { newAsOf, changesAsOf } = state.ages;
  const walks = state.walks().map(describeWalk);
  const { records, removedIds, rejected, doubt, staleness } = state;
  const result = {
    tenant,
    records,
    removed_ids: removedIds,
    rejected,
    rejected_records: staleness.rejected,
    held_back_removals: doubt.heldBack,
    unconfirmed_removals: doubt.unconfirmed,
    kept_because: doubt.reason,
    new_as_of: newAsOf,
    changes_as_of: changesAsOf,
    new_age_seconds: ageOf(newAsOf),
    changes_age_seconds: ageOf(changesAsOf),
    walks,
  };
  const lines = [
    `${tenant}: ${counted(records, 'record')} (new: ${ageText(newAsOf)}, changes: ${ageText(changesAsOf)})`,
    `${removedIds.length} recently removed, ${countText(staleness.rejected)} rejected by the tenant`,
    ...describeDoubt(doubt),
    ...walks.map(walkText),
  ];
  writeResult(output, json === true, result, lines.join('\n'));
}

function describeDoubt({ heldBack, unconfirmed, reason }: Doubt): readonly string[] {
  if (heldBack > 0)
    return [
      `held back: ${counted(heldBack, 'removal')}: ${reason}; if they are gone, confirm them with --once --confirm-removals ${heldBack}`,
    ];
  return unconfirmed > 0 ? [`unconfirmed: ${counted(unconfirmed, 'removal')}: ${reason}`] : [];
}

const describeWalk = ({ number, startedAt, endedAt, page, seen, lastTotal, rejected, fault }: WalkState) => ({
  number,
  started_at: new Date(startedAt * 1000).toISOString(),
  ended_at: endedAt === null ? null : new Date(endedAt * 1000).toISOString(),
  next_page: page,
  records: seen,
  total: lastTotal,
  is_complete: endedAt !== null && fault === null && rejected === 0,
  rejected,
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
  asOf === null || isYetToCome(asOf) ? null : Math.max(0, Math.round((Date.now() - Date.parse(asOf)) / 1000));

function ageText(asOf: string | null): string {
  const seconds = ageOf(asOf);
  if (seconds !== null) return durationText(seconds);
  return asOf === null ? 'not yet' : `as of ${asOf}, which is yet to come`;
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

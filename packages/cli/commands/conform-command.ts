import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { addProfileOption, connect, guardCredentials, type ProfileOption } from '../../terminal/connection.ts';
import { UsageError, writeFailure } from '../../terminal/error.ts';
import { countText, formatTable, type Output, writeResult } from '../../terminal/output.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import type { Profile } from '../../terminal/profile.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { describeCapabilities } from '../conform/capabilities.ts';
import { type ConformReport, checkServer } from '../conform/conform.ts';
import { findTokenUrl } from '../conform/find-token-url.ts';
import { writeJunit } from '../conform/junit.ts';
import { ConformError, Requester } from '../conform/requester.ts';
import { addCredentialOptions, type CredentialOptions, readCredentials, sourcesOfSecret } from './credentials.ts';

interface ConformOptions extends ProfileOption, CredentialOptions {
  readonly maxRequests: number;
  readonly junit?: string;
  readonly json?: boolean;
}

/** Twice what the checks need, for servers with many small pages. */
const requestsMaxDefault = 200;

export function addConformCommand(program: Command, output: Output): void {
  addCredentialOptions(addProfileOption(program.command('conform')))
    .description('check what any server of the published Connect API v1 does, by requests that change nothing')
    .option('--max-requests <number>', 'requests to send at most', readRequestsMax, requestsMaxDefault)
    .option('--junit <file>', 'also write the result as JUnit XML')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Without --url and --credentials, the server and the client are those of the profile.
${sourcesOfSecret}
Exit codes: 0 if no check failed, 1 if one did, 2 if the server cannot be checked, or not wholly.

Examples:
  subreport conform --url https://reports.example.com --client-id acme-reporting
  subreport conform --url https://connect.example.com --token-url https://id.example.com/token \\
    --client-id acme --client-secret-file secret.txt --junit conform.xml
  subreport conform --profile demo --json`,
    )
    .action((options: ConformOptions) =>
      runReader(async (signal) => {
        const report = await checkGiven(options, signal, output);
        writeResult(output, options.json === true, report, describe(report));
        if (options.junit !== undefined) writeReport(options.junit, writeJunit(report));
        if (report.failed > 0) process.exitCode = 1;
        else if (report.not_checked > 0) throw unchecked(report);
      }),
    );
}

/** Throws `UsageError`, as exit code 1 means that a check failed. */
function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(writeFailure(file, error).message);
  }
}

const unchecked = ({ not_checked, max_requests }: ConformReport): UsageError =>
  new UsageError(
    `Cannot check the server wholly: --max-requests must suffice for all checks: ${countText(not_checked)} were left after ${countText(max_requests)} requests`,
  );

async function checkGiven(options: ConformOptions, signal: AbortSignal, output: Output): Promise<ConformReport> {
  const isGiven = options.url !== undefined || options.credentials !== undefined;
  const profile: Profile = isGiven ? await readCredentials(options, output) : connect(options).profile;
  guardCredentials(profile);
  try {
    const { base_url: baseUrl, client_id: clientId, client_secret: clientSecret } = profile;
    const tokenUrl = await findTokenUrl({ baseUrl, tokenUrl: profile.token_url, allowHttp: profile.allow_http });
    const limits = { requestsMax: options.maxRequests, userAgent: `subreport/${packageVersion}`, signal };
    return await checkServer(new Requester({ baseUrl, tokenUrl, clientId, clientSecret }, limits));
  } catch (error) {
    throw error instanceof ConformError ? new UsageError(error.message) : error;
  }
}

function readRequestsMax(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be an integer from 1 to 999999, such as 200');
}

function describe({ base_url, checks, capabilities, requests, max_requests, ...counts }: ConformReport): string {
  const table = formatTable(
    ['CHECK', 'RESULT', 'SEEN'],
    checks.map(({ id, result, seen }) => [id, result, seen]),
  );
  const failures = checks.filter(({ result }) => result === 'failed');
  const found = capabilities === null ? [['unknown', 'the requests are spent']] : describeCapabilities(capabilities);
  return [
    table,
    ...(failures.length === 0 ? [] : ['', 'Failed:', ...failures.map(({ id, sentence }) => `  ${id}: ${sentence}`)]),
    '',
    `What a copy of this account must know about ${base_url}:`,
    ...found.map(([name = '', value]) => `  ${name.padEnd(26)}  ${value}`),
    '',
    `${counts.passed} passed, ${counts.failed} failed, ${counts.not_applicable} not applicable; ${requests} of at most ${max_requests} requests`,
  ].join('\n');
}

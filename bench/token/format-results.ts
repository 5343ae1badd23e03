import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { Measurement } from './measure-load.ts';
import { clientCount, poolSize, roundMs, rounds } from './plan.ts';

/** What was measured of each load, round by round. */
export type Results = Readonly<
  Record<
    | 'client_credentials, ours'
    | 'client_credentials, theirs'
    | 'refresh, ours'
    | 'refresh, theirs'
    | 'open'
    | 'cached'
    | 'uncached',
    readonly Measurement[]
  >
>;

/** Writes the results as a page: medians over the rounds, and ratios as medians of the ratios within a round. */
export function formatResults(results: Results): string {
  const credentials = [results['client_credentials, ours'], results['client_credentials, theirs']] as const;
  const refreshes = [results['refresh, ours'], results['refresh, theirs']] as const;
  const cached = [results.cached, results.open] as const;
  const uncached = [results.uncached, results.open] as const;
  const column = (measurements: readonly Measurement[]) =>
    `${Math.round(median(measurements.map(perSecond))).toLocaleString('en')}/s, ${Math.round(median(measurements.map(cpu)))} µs`;
  const row = (name: string, [a, b]: Pair, aim: number | undefined) => {
    const ratio = median(ratios(a, b, perSecond));
    const verdict = aim === undefined ? '' : `≥ ${aim}: ${ratio >= aim ? 'met' : 'missed'}`;
    return `| ${name} | ${column(a)} | ${column(b)} | **${ratio.toFixed(2)}** (${spread(ratios(a, b, perSecond))}) | ${median(ratios(b, a, cpu)).toFixed(2)} | ${verdict} |`;
  };
  return `# Tokens

Written by \`npm run bench:token\`. ${machine()}

Each cell is a rate and the CPU time of the server's process for one request; PostgreSQL and the load generator have the other core. ${rounds} rounds of
${roundMs / 1000} s each, all loads in turns, ${clientCount} connections with a client each, ${poolSize} connections to PostgreSQL 18 (fsync off: it is the servers that are compared, not the disk).
Medians; the ratio is the median of the ratios within a round, with the middle half of them in brackets.

| tokens | subreport | oidc-provider ${versionOf('oidc-provider')} | rate ratio | CPU ratio | aim |
|---|---|---|---|---|---|
${row('client_credentials with a refresh token', credentials, 1.6)}
${row('refresh_token with rotation', refreshes, 2)}

Both sign ES256 JWTs, look the client up at each request and keep what must last in PostgreSQL through \`pg\`. oidc-provider issues no refresh token for client
credentials by itself: a custom grant on its own classes does. We write an access log, it does not.

| our API, a page of 20 records | with a token | open route | rate ratio | CPU ratio | aim |
|---|---|---|---|---|---|
${row('token seen before', cached, 0.95)}
${row('token never seen before', uncached, undefined)}
`;
}

type Pair = readonly [readonly Measurement[], readonly Measurement[]];

const perSecond = (measurement: Measurement): number => measurement.perSecond;
const cpu = (measurement: Measurement): number => measurement.cpuMicrosEach;

function ratios(
  a: readonly Measurement[],
  b: readonly Measurement[],
  value: (measurement: Measurement) => number,
): number[] {
  return a.map((measurement, round) => value(measurement) / value(b[round] ?? measurement));
}

const median = (values: readonly number[]): number => quantile(values, 0.5);
const spread = (values: readonly number[]): string =>
  `${quantile(values, 0.25).toFixed(2)} to ${quantile(values, 0.75).toFixed(2)}`;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

function machine(): string {
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}).`;
}

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Measurement } from './measure-load.ts';
import { clientCount, poolSize, roundMs, rounds } from './plan.ts';

/** What was measured of each load, round by round. */
export type Results = Readonly<Record<LoadName, readonly Measurement[]>>;

/** The loads that the page compares. */
export type LoadName =
  | `${'client_credentials' | 'refresh'}, ${'ours' | 'theirs'}`
  | `${'page' | 'report'}, ${'tokens seen before' | 'new tokens'}`
  | `open ${'page' | 'report'}`;

/**
 * Writes the results as a page: medians over the rounds, and ratios as medians of the ratios within
 * a round.
 */
export function formatResults(results: Results): string {
  const column = (measurements: readonly Measurement[]) =>
    `${Math.round(median(measurements.map(perSecond))).toLocaleString('en')}/s, ${Math.round(median(measurements.map(cpu)))} µs`;
  const row = (name: string, first: LoadName, second: LoadName, aim?: number) => {
    const [a, b] = [results[first], results[second]];
    const ratio = median(ratios(a, b, perSecond));
    const verdict = aim === undefined ? '' : `≥ ${aim}: ${ratio >= aim ? 'met' : 'missed'}`;
    return `| ${name} | ${column(a)} | ${column(b)} | **${ratio.toFixed(2)}** (${spread(ratios(a, b, perSecond))}) | ${median(ratios(b, a, cpu)).toFixed(2)} | ${verdict} |`;
  };
  return `# Tokens

Written by \`npm run bench:token\`. ${machine()}

Each cell is a rate and the CPU time of the server's process for one request; PostgreSQL and the load generator share the machine with it, so rates hold for these
proportions and the CPU ratio for the servers alone. ${rounds} rounds of
${roundMs / 1000} s each, all loads in turns, ${clientCount} connections with a client each, ${poolSize} connections to PostgreSQL 18 (fsync off: it is the servers that are compared, not the disk).
Medians; the ratio is the median of the ratios within a round, with the middle half of them in brackets.

| tokens | subreport | oidc-provider ${versionOf('oidc-provider')} | rate ratio | CPU ratio | aim |
|---|---|---|---|---|---|
${row('client_credentials with a refresh token', 'client_credentials, ours', 'client_credentials, theirs', 1.6)}
${row('refresh_token with rotation', 'refresh, ours', 'refresh, theirs', 2)}

Both sign ES256 JWTs, look the client up at each request and keep what must last in PostgreSQL through \`pg\`. oidc-provider issues no refresh token for client
credentials by itself: a custom grant on its own classes does. We write an access log, it does not.

| our API, a page of 20 records | token checked | token ignored | rate ratio | CPU ratio | aim |
|---|---|---|---|---|---|
${row('the report, token seen before', 'report, tokens seen before', 'open report', 0.95)}
${row('the report, token new', 'report, new tokens', 'open report')}
${row('a page that is ready, token seen before', 'page, tokens seen before', 'open page', 0.95)}
${row('a page that is ready, token new', 'page, new tokens', 'open page')}

Checked and ignored differ in nothing but the check; the ready page asks no database, so that nearly all of it is the socket and Fastify.
`;
}

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
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), load average ${loadavg()[0]?.toFixed(1)} at the end: what is above 3 was other work.`;
}

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

import { readFileSync } from 'node:fs';
import { type Measured, type Rounds, ratioOf } from '../support/compare.ts';
import { machineFacts } from '../support/results.ts';

/** Formats the results as a page: medians over the rounds, and ratios within a round. */
export function formatResults(measured: readonly Measured[], { rounds, seconds, connections }: Rounds): string {
  const sideOf = (name: string): Measured => {
    const side = measured.find((each) => each.name === name);
    if (side === undefined) throw new TypeError(`Cannot write the results: '${name}' must have been measured`);
    return side;
  };
  const row = (name: string, firstName: string, secondName: string, aim: number): string => {
    const [first, second] = [sideOf(firstName), sideOf(secondName)];
    const { median, least, greatest } = ratioOf(first, second, 'perSecond');
    const work = ratioOf(second, first, 'totalUs').median;
    const cells = [
      name,
      cell(first),
      cell(second),
      `**${median.toFixed(2)}** (${least.toFixed(2)}–${greatest.toFixed(2)})`,
      ratioOf(second, first, 'cpuUs').median.toFixed(2),
      `**${work.toFixed(2)}**`,
      `≥ ${aim}: ${work >= aim ? 'met' : 'missed'}`,
    ];
    return `| ${cells.join(' | ')} |`;
  };
  return `${machineFacts()}.

Each cell contains the rate and the CPU time of the server process per request, and that of PostgreSQL. Both and the load generator share the machine, so rates are only valid in
comparison. The first CPU ratio covers the servers alone, the second one PostgreSQL too, and the aims are for the second one. ${rounds} rounds of ${seconds} s a side, sides in turn, ${connections} connections. Medians; the ratio is the
median of the ratios within a round, with the least and the greatest of them in brackets.

| tokens | subreport | oidc-provider ${versionOf('oidc-provider')} | rate ratio | CPU ratio | with PostgreSQL | aim |
|---|---|---|---|---|---|---|
${row('client_credentials with a refresh token', 'client_credentials, ours', 'client_credentials, theirs', 1.5)}
${row('refresh_token with rotation', 'refresh, ours', 'refresh, theirs', 2)}

Both sign ES256 JWTs, look up the client for each request, and store persistent state in PostgreSQL through \`pg\`. oidc-provider issues no refresh token for client
credentials, so a custom grant on its classes does. subreport writes an access log, oidc-provider does not.
`;
}

const cell = ({ perSecond, cpuUs, totalUs }: Measured): string =>
  `${Math.round(perSecond).toLocaleString('en')}/s, ${Math.round(cpuUs)} + ${Math.round(totalUs - cpuUs)} µs`;

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

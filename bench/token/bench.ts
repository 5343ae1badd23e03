import { mkdirSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { startPostgres } from '../../tools/postgres-server.ts';
import { Connection } from './connection.ts';
import { formatResults } from './format-results.ts';
import { clientCredentialsLoad, pageLoad, refreshLoad, takeTurns, tokenRequest, tokensOf } from './loads.ts';
import { type Load, type Measurement, measureLoad } from './measure-load.ts';
import { clientCount, manyTokens, paths, roundMs, rounds } from './plan.ts';
import { type MeasuredServer, startServer } from './start-server.ts';

// How many tokens a second both grants give, ours and oidc-provider's, and what the check of an
// access token costs our API. All loads take turns in short rounds of one run, as the machine may
// have other work; what counts is the median.

const postgres = await startPostgres();
const servers: MeasuredServer[] = [];
try {
  const ours = await start('./subreport-server.ts', 'subreport');
  const theirs = await start('./oidc-provider-server.ts', 'oidc_provider');
  const tokens = await mintTokens(ours);
  const known = takeTurns(tokens.slice(0, clientCount));
  const unknown = takeTurns(tokens);
  const results = await measureInTurns({
    'client_credentials, ours': clientCredentialsLoad(ours),
    'client_credentials, theirs': clientCredentialsLoad(theirs),
    'refresh, ours': refreshLoad(ours),
    'refresh, theirs': refreshLoad(theirs),
    'open page': pageLoad(ours, paths.openPage, known),
    'page, tokens seen before': pageLoad(ours, paths.guardedPage, known),
    'page, new tokens': pageLoad(ours, paths.guardedPage, unknown),
    'open report': pageLoad(ours, paths.openReport, known),
    'report, tokens seen before': pageLoad(ours, paths.guardedReport, known),
    'report, new tokens': pageLoad(ours, paths.guardedReport, unknown),
  });
  const text = formatResults(results);
  console.log(text);
  const folder = new URL('../results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('token.md', folder), text);
} finally {
  for (const server of servers) await server.stop();
  await postgres.stop();
}

/**
 * Starts a server with an empty database of its own, which belongs to a role without privileges.
 */
async function start(file: string, database: string): Promise<MeasuredServer> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create role ${database} login`);
  await client.query(`create database ${database} owner ${database}`);
  await client.end();
  const url = new URL(postgres.url);
  url.username = database;
  url.pathname = `/${database}`;
  const server = await startServer(file, url.href);
  servers.push(server);
  return server;
}

/** Access tokens for the load on the API. */
async function mintTokens(server: MeasuredServer): Promise<string[]> {
  const each = Math.ceil(manyTokens / clientCount);
  const tokens = await Promise.all(
    server.clients.map(async (_client, index) => {
      const connection = await Connection.open(server.port);
      const minted: string[] = [];
      while (minted.length < each) {
        minted.push(tokensOf(await connection.send(tokenRequest(server, index))).access_token);
      }
      connection.close();
      return minted;
    }),
  );
  return tokens.flat();
}

/**
 * Measures all loads in each round, beginning with another one each time; a first round is not
 * counted.
 */
async function measureInTurns<Name extends string>(loads: Record<Name, Load>): Promise<Record<Name, Measurement[]>> {
  const names = Object.keys(loads) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Measurement[]])) as Record<Name, Measurement[]>;
  for (let round = -1; round < rounds; round += 1) {
    const first = (round + 1) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const measurement = await measureLoad(loads[name], clientCount, roundMs);
      if (round >= 0) results[name].push(measurement);
    }
  }
  return results;
}

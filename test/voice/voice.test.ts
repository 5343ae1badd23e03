import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createClient, type SubreportClient } from '../../packages/client/index.ts';
import { hasChromium } from '../support/chromium.ts';
import { hasTools } from '../support/has-tools.ts';
import { type BothConsoles, startBothConsoles } from '../support/operator-console.ts';
import { rowsOf } from '../support/report-console.ts';
import { type QueryMistake, queryMistakes, type Surface, surfaces } from './mistakes.ts';
import { type OtherMistake, otherMistakes, type Request } from './other-mistakes.ts';
import {
  askApi,
  askCommandLine,
  askConsole,
  askPython,
  askTool,
  askTypeScript,
  createTestClient,
  failureOf,
  openTools,
  type Place,
  readPage,
  runWords,
  send,
  type ToolCall,
} from './surfaces.ts';

const snapshot = new URL('sentences.txt', import.meta.url);

/** What the surfaces say about a mistake; a surface that is missing has no such input. */
type Said = Readonly<Partial<Record<Surface, string>>>;
interface Row {
  readonly title: string;
  readonly said: Said;
  /** What a sentence must have on a surface, which it lacks. */
  readonly lacks: (surface: Surface, sentence: string) => readonly string[];
}

/** Words of one surface that no other may say. */
const foreign: Readonly<Record<Surface, RegExp>> = {
  api: /(?<![-\w])--[a-z]|allowHttp|allow_http|undefined|\bNone\b|browser|npx/,
  cli: /parameter '|allowHttp|allow_http|(?<!SUBREPORT_)CLIENT_SECRET|all=true|X-Next-Page|browser|undefined|\bNone\b|in a URL|\bISO 8601 date/,
  typescript: /allow_http|(?<![-\w])--[a-z]|\bNone\b|all=true|X-Next-Page|in a URL, write|browser/,
  python:
    /allowHttp|(?<![-\w])--[a-z]|undefined|all=true|X-Next-Page|in a URL, write|browser|parameter '|'[a-z]+-[a-z]+'/,
  mcp: /parameter '|(?<![-\w])--[a-z]|allowHttp|undefined|all=true|X-Next-Page|in a URL/,
  console: /(?<![-\w])--[a-z]|allowHttp|allow_http|undefined|all=true|X-Next-Page|in a URL/,
};

/** Longest sentence without its value; the lists of names and of settings are longer. */
const charactersMax = 200;
const isList = (sentence: string): boolean =>
  /one of (?:\S+, ){5}|Allowed choices|of (?:\S+, ){6}|KEY_ENCRYPTION_SECRET_BEFORE/.test(sentence);

describe.skipIf(!hasChromium || !hasTools('python3'))('what all surfaces say about mistakes', () => {
  let rows: readonly Row[];
  beforeAll(async () => {
    rows = await readRows();
  });

  test('at least 140 mistakes are made, and each is noticed', () => {
    expect(rows.length).toBeGreaterThanOrEqual(140);
    const unnoticed = rows.flatMap(({ title, said }) =>
      Object.entries(said).flatMap(([surface, sentence]) =>
        /^no error|^200/.test(sentence) ? [[surface, title]] : [],
      ),
    );
    expect(unnoticed).toEqual([]);
    for (const surface of surfaces)
      expect(rows.filter(({ said }) => said[surface] !== undefined).length).toBeGreaterThan(25);
  });

  const faultsOf = (find: (surface: Surface, sentence: string, row: Row) => readonly string[]): string[][] =>
    rows.flatMap((row) =>
      surfaces.flatMap((surface) => {
        const sentence = row.said[surface];
        return sentence === undefined
          ? []
          : find(surface, sentence, row).map((fault) => [surface, row.title, fault, sentence]);
      }),
    );

  test('each sentence has its subject, and a right example or what is meant', () => {
    expect(faultsOf((surface, sentence, { lacks }) => lacks(surface, sentence))).toEqual([]);
  });

  test('no sentence names what another surface has', () => {
    expect(faultsOf((surface, sentence) => foreign[surface].exec(sentence) ?? [])).toEqual([]);
  });

  test('a sentence states the current value only if there is one', () => {
    const nothing = /current value is (?:undefined|None|null|E[A-Z]+|)$/m;
    expect(faultsOf((_, sentence) => nothing.exec(sentence) ?? [])).toEqual([]);
  });

  test(`a sentence that lists no names has at most ${charactersMax} characters before the value`, () => {
    const longest = (sentence: string): string[] =>
      sentence
        .split('\n')
        .filter((line) => !isList(line) && line.replace(/: current value is .*/, '').length > charactersMax);
    expect(faultsOf((_, sentence) => longest(sentence))).toEqual([]);
  });

  test('the sentences are those of sentences.txt (UPDATE_VOICE=1 writes it: review the difference)', () => {
    const text = rows.map(describeRow).join('\n');
    if (process.env.UPDATE_VOICE !== undefined) writeFileSync(snapshot, text);
    expect(text).toBe(readFileSync(snapshot, 'utf8'));
  });
});

/** A list of names, which the contract may extend. */
const names = /(?<=of )(?:[\w.-]+, ){6,}(?!such)[\w.-]+/g;

function describeRow({ title, said }: Row): string {
  const lines = surfaces.map((surface) => {
    const sentence = said[surface];
    if (sentence === undefined) return `${surface}: has no such input`;
    const [same] = surfaces.filter((each) => said[each] === sentence);
    return `${surface}: ${same === surface ? sentence.replaceAll('\n', '\n  ').replaceAll(names, 'NAMES') : `as ${same}`}`;
  });
  return [`# ${title}`, ...lines, ''].join('\n');
}

/** Makes all mistakes on all surfaces. */
async function readRows(): Promise<readonly Row[]> {
  const both = await startBothConsoles(rowsOf(30));
  const [folder, before] = [mkdtempSync(join(tmpdir(), 'voice-')), process.cwd()];
  mkdirSync(join(folder, 'folder'));
  process.chdir(folder);
  const tools = await openTools(createTestClient(both));
  try {
    const token = await both.service.accessToken(both.client);
    const place = { console: both, folder, token };
    const page = await both.open('/console/subscriptions');
    const client = createTestClient(both);
    const python = await askPython(place, [...queryMistakes, ...otherMistakes.flatMap(({ python }) => python ?? [])]);
    const operatorPage = await page.context().newPage();
    await both.signInOperator(operatorPage);
    await operatorPage.goto(`${both.operatorUrl}/console/`);
    const makers = {
      place,
      client,
      page,
      operatorPage,
      call: tools.call,
      operator: await both.createOperator('voice'),
    };
    const asked: Row[] = [];
    for (const mistake of queryMistakes) asked.push(await askAll(makers, mistake, python.shift()));
    for (const mistake of otherMistakes)
      asked.push(await makeOther(makers, both, mistake, mistake.python && python.shift()));
    const neutral = neutralizer(both, folder);
    return asked.map((row) => ({ ...row, said: neutral(row.said) }));
  } finally {
    process.chdir(before);
    tools.close();
    await both.close();
    rmSync(folder, { recursive: true });
  }
}

interface Makers {
  readonly place: Place;
  readonly client: SubreportClient;
  readonly page: Page;
  readonly operatorPage: Page;
  readonly call: ToolCall;
  readonly operator: string;
}

const given = (said: Readonly<Partial<Record<Surface, string | undefined>>>): Said =>
  Object.fromEntries(Object.entries(said).filter(([, sentence]) => sentence !== undefined));

async function askAll({ place, client, page, call }: Makers, mistake: QueryMistake, python?: string): Promise<Row> {
  const { ask, given: values, names = Object.keys(values), shows, except = {} } = mistake;
  const text = JSON.stringify(values);
  const isOn = (surface: Surface) => except[surface] === undefined;
  const said = given({
    api: await askApi(place, mistake),
    cli: await askCommandLine(place, mistake),
    typescript: isOn('typescript') ? await askTypeScript(client, mistake) : undefined,
    python,
    mcp: isOn('mcp') ? await askTool(call, mistake) : undefined,
    console: await askConsole(page, mistake),
  });
  const lacks = (surface: Surface, sentence: string): string[] => {
    const wanted = surface === 'python' ? names.map((name) => name.replaceAll('-', '_')) : names;
    // the command line itself names an unknown option, and says where the options are listed
    const isOfWords = sentence.startsWith('2 error: unknown option');
    return [...wanted, ...(isOfWords ? [] : [shows])].filter((each) => !sentence.includes(each));
  };
  return { title: `${ask} ${text.length > 90 ? `${text.slice(0, 90)}…` : text}`, said, lacks };
}

async function makeOther(makers: Makers, both: BothConsoles, mistake: OtherMistake, python?: string): Promise<Row> {
  const { place, client, page, operatorPage, call, operator } = makers;
  const { service, operatorUrl } = both;
  const { client_id: clientId, client_secret: clientSecret } = both.client;
  const fill = (text: string): string =>
    text.replaceAll('CLIENT', clientId).replaceAll('SECRET', clientSecret).replaceAll('FOLDER', 'folder');
  const filled = ([method, path, body, headers]: NonNullable<OtherMistake['api']>) =>
    [method, fill(path), typeof body === 'string' ? fill(body) : body, headers] as Request;
  const atServer = mistake.operator && { SUBREPORT_SERVER: operatorUrl, SUBREPORT_OPERATOR_TOKEN: operator };
  const variables = Object.entries({ ...atServer, ...mistake.environment }).map(
    ([name, value]) => [name, value.replace(/^URL(?=\/)/, service.url)] as const,
  );
  const run = new Function(
    ...['createClient', 'client', 'url', 'clientId', 'clientSecret'],
    `return (async () => ${mistake.typescript})()`,
  );
  const said = given({
    api:
      (mistake.api && (await send(service.url, place.token, filled(mistake.api)))) ??
      (mistake.operator && (await send(operatorUrl, operator, filled(mistake.operator)))),
    cli: mistake.cli && (await runWords(place, mistake.cli.map(fill), Object.fromEntries(variables), mistake.input)),
    typescript:
      mistake.typescript && (await failureOf(() => run(createClient, client, service.url, clientId, clientSecret))),
    python,
    mcp: mistake.mcp && (await call(...mistake.mcp)),
    console:
      (mistake.console && (await readPage(page, mistake.console))) ??
      (mistake.operatorConsole && (await readPage(operatorPage, mistake.operatorConsole))),
  });
  const lacks = (_: Surface, sentence: string): string[] =>
    [mistake.names, mistake.shows]
      .filter((each) => !new RegExp(fill(each.source), each.flags).test(sentence))
      .map(String);
  return { title: mistake.mistake, said, lacks };
}

/** Leaves out what differs from run to run. */
function neutralizer({ service, operatorUrl, client }: BothConsoles, folder: string): (said: Said) => Said {
  const neutral = (sentence: string): string =>
    sentence
      .replaceAll(service.url, 'https://SERVICE')
      .replaceAll(operatorUrl, 'https://OPERATOR')
      .replaceAll(client.client_id, 'CLIENT')
      .replaceAll(folder, 'FOLDER')
      .replaceAll(/\nCorrelation id: .*/g, '')
      .replaceAll(/which begins at [\dT:-]+Z/g, 'which begins at INSTANT')
      .replaceAll(/[^\S\n\x20]/g, '?');
  return (said) => Object.fromEntries(Object.entries(said).map(([surface, sentence]) => [surface, neutral(sentence)]));
}

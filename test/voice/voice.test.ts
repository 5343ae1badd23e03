import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SubreportClient } from '../../packages/client/index.ts';
import { createFilledTenant } from '../support/console-tenant.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { startService } from '../support/service.ts';
import { type QueryMistake, queryMistakes, type Surface, surfaces } from './mistakes.ts';
import {
  askApi,
  askCommandLine,
  askPython,
  askTool,
  askTypeScript,
  createTestClient,
  openTools,
  type Place,
  type ToolCall,
} from './surfaces.ts';

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
};

/** Longest sentence without its value; the lists of names and of settings are longer. */
const charactersMax = 200;
const isList = (sentence: string): boolean =>
  /one of (?:\S+, ){5}|Allowed choices|of (?:\S+, ){6}|KEY_ENCRYPTION_SECRET_BEFORE/.test(sentence);

describe.skipIf(!hasTools('python3'))('what all surfaces say about mistakes', () => {
  let rows: readonly Row[];
  beforeAll(async () => {
    rows = await readRows();
  });

  test('at least 50 mistakes are made, and each is noticed', () => {
    expect(rows.length).toBeGreaterThanOrEqual(50);
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
});

/** Makes all mistakes on all surfaces. */
async function readRows(): Promise<readonly Row[]> {
  const service = await startService(await engines[0].openTestStore());
  const client = await createFilledTenant(service, 'acme', 30);
  const folder = mkdtempSync(join(tmpdir(), 'voice-'));
  const place: Place = { service, client, folder, token: await service.accessToken(client) };
  const tools = await openTools(createTestClient(place));
  try {
    const python = await askPython(place, queryMistakes);
    const makers = { place, client: createTestClient(place), call: tools.call };
    const asked: Row[] = [];
    for (const mistake of queryMistakes) asked.push(await askAll(makers, mistake, python.shift()));
    return asked;
  } finally {
    tools.close();
    await service.close();
    rmSync(folder, { recursive: true });
  }
}

interface Makers {
  readonly place: Place;
  readonly client: SubreportClient;
  readonly call: ToolCall;
}

const given = (said: Readonly<Partial<Record<Surface, string | undefined>>>): Said =>
  Object.fromEntries(Object.entries(said).filter(([, sentence]) => sentence !== undefined));

async function askAll({ place, client, call }: Makers, mistake: QueryMistake, python?: string): Promise<Row> {
  const { ask, given: values, names = Object.keys(values), shows, except = {} } = mistake;
  const text = JSON.stringify(values);
  const isOn = (surface: Surface) => except[surface] === undefined;
  const said = given({
    api: await askApi(place, mistake),
    cli: await askCommandLine(place, mistake),
    typescript: isOn('typescript') ? await askTypeScript(client, mistake) : undefined,
    python,
    mcp: isOn('mcp') ? await askTool(call, mistake) : undefined,
  });
  const lacks = (surface: Surface, sentence: string): string[] => {
    const wanted = surface === 'python' ? names.map((name) => name.replaceAll('-', '_')) : names;
    // the command line itself names an unknown option, and says where the options are listed
    const isOfWords = sentence.startsWith('2 error: unknown option');
    return [...wanted, ...(isOfWords ? [] : [shows])].filter((each) => !sentence.includes(each));
  };
  return { title: `${ask} ${text.length > 90 ? `${text.slice(0, 90)}…` : text}`, said, lacks };
}

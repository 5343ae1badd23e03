import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { inflateSync } from 'node:zlib';
import { waitMsMax } from './wait-limit.ts';

const executablePath = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find(
  (path) => path !== undefined && existsSync(path),
);
if (executablePath === undefined) {
  const message =
    'SKIPPED: the pages were not tested in Firefox: install firefox-esr (apt-get install firefox-esr) or set FIREFOX to its path';
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
}

/** Whether pages can be tested in Firefox here; never false in CI. */
export const hasFirefox = executablePath !== undefined;

/**
 * An element by its role and accessible name, or by a CSS selector; a field for a password has no
 * role.
 */
type Element = { readonly role?: string; readonly name: string } | string;

/**
 * A page in Firefox, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). Playwright needs a
 * Firefox of its own build; users have this one.
 */
export interface FirefoxPage {
  /** The folder of its downloads. */
  readonly downloads: string;
  goto(url: string): Promise<void>;
  /** Waits for the element and clicks it. */
  click(element: Element): Promise<void>;
  /** Types into the element that has the focus; keys without a character are those of WebDriver. */
  type(text: string): Promise<void>;
  /** Holds the first keys down while it presses the last one. */
  press(...keys: readonly string[]): Promise<void>;
  waitFor(element: Element): Promise<void>;
  /** The value of an expression of JavaScript, as a string. */
  evaluate(expression: string): Promise<string>;
  /** The number of pages of paper that the page takes. */
  countPrintedPages(): Promise<number>;
  /** Errors that no script of the page caught, and requests to other origins than `goto` opened. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

/** No dialog, no first page, and no requests of its own. */
const preferences = (downloads: string): Record<string, string | number | boolean> => ({
  'browser.download.dir': downloads,
  'browser.download.folderList': 2,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'browser.newtabpage.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.systemAddon.update.enabled': false,
  'extensions.update.enabled': false,
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.server': '',
});

/** Starts Firefox with an empty profile and opens a page. */
export async function launchFirefox(): Promise<FirefoxPage> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-firefox-'));
  const downloads = join(folder, 'downloads');
  const lines = Object.entries(preferences(downloads)).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(folder, 'user.js'), lines.join(''));
  const firefox = spawn(
    executablePath ?? '',
    ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0'],
    { env: { ...process.env, HOME: folder, MOZ_CRASHREPORTER_DISABLE: '1' }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(firefox, 'exit');
  const stop = async (): Promise<void> => {
    firefox.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  let url = '';
  for await (const line of createInterface(firefox.stderr)) {
    url = /listening on (ws:\S+)/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  if (url === '') {
    await stop();
    throw new Error('Cannot start Firefox: it must listen for WebDriver BiDi');
  }
  firefox.stderr.resume();
  return { downloads, ...(await openPage(`${url}/session`, stop)) };
}

/** The parts of replies and events that are read here. */
interface Message {
  readonly id?: number;
  readonly type: string;
  readonly method?: string;
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: each command has results of its own
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: each event has parameters of its own
  readonly params?: any;
}

async function openPage(url: string, stop: () => Promise<void>): Promise<Omit<FirefoxPage, 'downloads'>> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const failures: string[] = [];
  let origin = '';
  const waiting = new Map<number, (reply: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const { id, method, params } = message;
    if (id !== undefined) waiting.get(id)?.(message);
    else if (method === 'log.entryAdded' && params.type === 'javascript') failures.push(params.text);
    else if (method === 'network.beforeRequestSent' && !isOwn(params.request.url, origin))
      failures.push(params.request.url);
  });
  let sent = 0;
  async function send(method: string, params: object = {}) {
    const id = ++sent;
    const { promise, resolve } = Promise.withResolvers<Message>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const reply = await promise;
    waiting.delete(id);
    if (reply.type === 'error') throw new Error(`Cannot run ${method}: ${reply.message}`);
    return reply.result;
  }
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });
  const { contexts } = await send('browsingContext.getTree');
  const context: string = contexts[0].context;
  const act = (actions: object[]) => send('input.performActions', { context, actions });

  async function find(value: Element): Promise<object> {
    const locator = { type: typeof value === 'string' ? 'css' : 'accessibility', value };
    for (const endsAt = performance.now() + waitMsMax; performance.now() < endsAt; await sleep(50)) {
      const { nodes } = await send('browsingContext.locateNodes', { context, locator, maxNodeCount: 1 }).catch(() => ({
        nodes: [], // the page is being left
      }));
      if (nodes.length > 0) return nodes[0];
    }
    throw new Error(`Cannot find ${JSON.stringify(value)}`);
  }
  async function click(element: Element): Promise<void> {
    const { sharedId } = (await find(element)) as { sharedId: string };
    const origin = { type: 'element', element: { sharedId } };
    const pointer = [
      { type: 'pointerMove', x: 0, y: 0, origin },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await act([{ type: 'pointer', id: 'mouse', actions: pointer }]);
  }
  return {
    failures,
    async goto(address) {
      ({ origin } = new URL(address));
      await send('browsingContext.navigate', { context, url: address, wait: 'complete' });
    },
    click,
    async type(text) {
      const keys = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await act([{ type: 'key', id: 'keyboard', actions: keys }]);
    },
    async press(...keys) {
      const down = keys.map((value) => ({ type: 'keyDown', value }));
      const up = keys.toReversed().map((value) => ({ type: 'keyUp', value }));
      await act([{ type: 'key', id: 'keyboard', actions: [...down, ...up] }]);
    },
    async waitFor(element) {
      await find(element);
    },
    async evaluate(expression) {
      const { result } = await send('script.evaluate', {
        expression: `String(${expression})`,
        target: { context },
        awaitPromise: true,
      });
      return result.value;
    },
    async countPrintedPages() {
      const { data } = await send('browsingContext.print', { context });
      return pagesOf(Buffer.from(data, 'base64'));
    },
    async close() {
      await send('browser.close').catch(() => undefined);
      socket.close();
      await stop();
    },
  };
}

/** Reads the number of pages, which is in a compressed part. */
function pagesOf(pdf: Buffer): number {
  const parts = [...pdf.toString('latin1').matchAll(/ObjStm.*?stream\r?\n(.*?)endstream/gs)];
  const texts = parts.map(([, part = '']) => inflateSync(Buffer.from(part, 'latin1')).toString('latin1'));
  return Number(/\/Type \/Pages.*?\/Count (\d+)/s.exec(texts.join('\n'))?.[1]);
}

const isOwn = (url: string, origin: string): boolean =>
  url.startsWith(`${origin}/`) || /^(?:data|blob|about):/.test(url);

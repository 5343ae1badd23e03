import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { waitMsMax } from './wait-limit.ts';

const firstOf = (paths: readonly (string | undefined)[]): string | undefined =>
  paths.find((path) => path !== undefined && existsSync(path));
const executablePath = firstOf([
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]);
/** Chromium without windows takes three quarters of the CPU time, but keeps no pages for Back. */
const windowless = firstOf([process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', executablePath]);
if (executablePath === undefined) {
  const message =
    'SKIPPED: the pages were not tested in a browser: install chromium (apt-get install chromium) or set CHROMIUM to its path';
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
}

/** Whether pages can be tested here; never false in CI. */
export const hasChromium = executablePath !== undefined;

/**
 * Chromium obeys only the last list of features: Playwright's, as far as it matters here, and the
 * pop-ups of the address bar, whose pages take 0.9 s of CPU time per context.
 */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/** What suites use of a browser that they share. */
export interface SharedBrowser extends Pick<Browser, 'newContext'> {
  /** Closes what this suite has opened. */
  close(): Promise<void>;
}

let launching: Promise<Browser> | undefined;

/**
 * The browser of this process, for one suite: its start takes a second of CPU time. It ends with
 * the process.
 */
export async function shareChromium(): Promise<SharedBrowser> {
  launching ??= launchChromium({ handleSIGTERM: false });
  const browser = await launching;
  const contexts: BrowserContext[] = [];
  return {
    async newContext(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}

interface BrowserOptions {
  /**
   * Pages that were left live on for Back, as in the browsers of users; Playwright's default ends
   * them.
   */
  readonly keepsPages?: boolean;
  /** Whether SIGTERM closes the browser, and not this process; the default. */
  readonly handleSIGTERM?: boolean;
}

/** Starts a browser that sends no requests of its own. */
export async function launchChromium({
  keepsPages = false,
  handleSIGTERM = true,
}: BrowserOptions = {}): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: (keepsPages ? executablePath : windowless) ?? '',
    handleSIGTERM,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join(',')}`,
      // a page of a test ends before optimized code has saved what compiling it takes
      '--js-flags=--no-maglev --no-turbofan',
    ],
  });
  browser.on('context', (context) => context.setDefaultTimeout(waitMsMax));
  return browser;
}

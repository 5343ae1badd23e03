import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';

/** Content of `demo-client.json`, for scripts. */
export interface DemoClient {
  readonly base_url: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly tenant: string;
}

/** Path of `demo-client.json`. */
export const demoFile = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'demo-client.json');

/** Writes `demo-client.json`; called once the service listens at the URLs in it. */
export function writeDemoClient(config: Config, demo: DemoClient): void {
  const file = demoFile(config);
  // with PostgreSQL, nothing else creates it
  mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  chmodSync(file, 0o600); // the mode above only applies to a new file
}

/** Reads `demo-client.json`; without members if it does not exist, or is truncated or edited. */
export function readDemoClient(config: Config): Partial<DemoClient> {
  const file = demoFile(config);
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<DemoClient>;
  } catch {
    return {};
  }
}

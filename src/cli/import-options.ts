import type { ImportFormat } from '../import/read-valid-rows.ts';
import type { ServerChoice } from './remote/server.ts';

/** The options of `import`. */
export interface ImportCommandOptions extends ServerChoice {
  readonly tenant: string;
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  readonly resume?: boolean;
  readonly replace?: boolean;
  readonly allowEmpty?: boolean;
  readonly errors?: string;
  readonly unpackedMaxGib?: number;
  readonly json?: boolean;
}

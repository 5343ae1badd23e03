import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Loaded into a service before its main module: gives it a response cache of `PAGE_CACHE_MIB`. A
 * version that has this setting reads it itself.
 */
const limits = resolve(process.argv[1] ?? '', '../settings/fixed-limits.ts');
if (existsSync(limits)) {
  const { fixedLimits } = (await import(pathToFileURL(limits).href)) as { fixedLimits: Record<string, number> };
  fixedLimits.pageCacheMib = Number(process.env.PAGE_CACHE_MIB);
}

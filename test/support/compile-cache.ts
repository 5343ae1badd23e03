import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Environment variables for child processes: Node caches compiled code. A command then takes 0.47 s
 * of CPU time instead of 0.83 s.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'subreport-compile-cache'),
};

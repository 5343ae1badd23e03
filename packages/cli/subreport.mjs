#!/usr/bin/env node
// Starts the command line of the package `@subreport/cli`. Plain JavaScript, because it must run on
// Node.js 20 and later.
import { launch } from '../terminal/launch.mjs';

await launch({ command: 'subreport', main: new URL('./main.ts', import.meta.url) });

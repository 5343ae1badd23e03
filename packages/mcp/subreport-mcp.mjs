#!/usr/bin/env node
// Starts the program of the package `@subreport/mcp`. Plain JavaScript, because it must run on
// Node.js 20 and later.
import { launch } from '../terminal/launch.mjs';

await launch({ command: 'subreport-mcp', main: new URL('./main.ts', import.meta.url) });

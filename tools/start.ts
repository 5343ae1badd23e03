import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm start` runs the demo.

const root = fileURLToPath(new URL('../', import.meta.url));
const command = join(root, 'packages/service/cli/subreport.mjs');

// Not without npm, because a process that nohup started may outlive its parent.
if (process.env.npm_lifecycle_event === 'start') await import(join(root, 'packages/terminal/end-with-parent.mjs'));

process.argv.splice(1, 1, command, 'serve', '--demo');
await import(command);

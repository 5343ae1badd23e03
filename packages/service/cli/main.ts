import { runMain } from '../../terminal/run-main.ts';
import { runCommandLine } from './command-line.ts';

await runMain(runCommandLine);

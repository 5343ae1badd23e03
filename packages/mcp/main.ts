import { runMain } from '../terminal/run-main.ts';
import { runMcpProgram } from './program.ts';

await runMain(runMcpProgram);

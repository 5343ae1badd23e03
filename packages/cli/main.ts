import { runMain } from '../terminal/run-main.ts';
import { runReaderProgram } from './command-line.ts';

await runMain(runReaderProgram);

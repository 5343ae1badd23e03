import { InterruptedError } from '../error.ts';
import type { Output } from '../output.ts';

/** Whether a person can answer questions. */
export const canAsk = (): boolean => process.stdin.isTTY === true;

/** Asks for a line on the terminal. */
export async function ask(question: string, { stderr }: Output): Promise<string> {
  stderr.write(`${question}: `);
  return (await readLine()).trim();
}

/** Asks for a line on the terminal without showing it. */
export async function askHidden(question: string, { stderr }: Output): Promise<string> {
  process.stdin.setRawMode(true); // before the question: the answer may come immediately
  stderr.write(`${question} (not shown): `);
  try {
    return await readLine();
  } finally {
    process.stdin.setRawMode(false);
    stderr.write('\n');
  }
}

/** Reads a line; in raw mode, also handles the editing keys, as a terminal does. */
function readLine(): Promise<string> {
  const { stdin } = process;
  let line = '';
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      stdin.off('data', take).off('end', finishLine);
      stdin.pause();
      end();
    };
    const finishLine = () => finish(() => resolve(line));
    const take = (chunk: Buffer) => {
      for (const key of chunk.toString()) {
        if (key === '\r' || key === '\n' || key === '\u0004') return finishLine();
        if (key === '\u0003') return finish(() => reject(new InterruptedError()));
        if (key === '\u0015') line = '';
        else if (key === '\u007f' || key === '\b') line = line.slice(0, -1);
        else line += key;
      }
    };
    stdin.on('data', take).on('end', finishLine).resume();
  });
}

/** Reads all of standard input. */
export async function readAllInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}

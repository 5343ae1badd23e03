import { type DestinationKind, type DestinationOption, reloadOption } from './destination-kind.ts';

/** Of a destination that cannot keep its own position. */
export const stateOption: DestinationOption = {
  flags: '--state <file>',
  description: 'the position to continue from, written at the end',
};

export const stdoutDestination: DestinationKind = {
  mode: 'stream',
  form: 'stdout:ndjson',
  pattern: /^stdout:ndjson$/,
  keeps: 'lines for a program, on standard output',
  options: [reloadOption, stateOption],
  examples: ['--to stdout:ndjson --state sync.db | ./load-changes'],
  async open({ state, reload }, write) {
    const { NdjsonOutput } = await import('./table/ndjson-output.ts');
    return new NdjsonOutput(write, state === undefined ? undefined : String(state), reload === true);
  },
};

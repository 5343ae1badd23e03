/** Counts of a simulation. */
export interface Tally {
  histories: number;
  rounds: number;
  writes: number;
  kills: number;
  'cut connections': number;
  'interrupted requests': number;
  'key rotations': number;
  'pages compared': number;
  'whole reports compared': number;
  'summaries compared': number;
  'changes followed': number;
}

export const newTally = (): Tally => ({
  histories: 0,
  rounds: 0,
  writes: 0,
  kills: 0,
  'cut connections': 0,
  'interrupted requests': 0,
  'key rotations': 0,
  'pages compared': 0,
  'whole reports compared': 0,
  'summaries compared': 0,
  'changes followed': 0,
});

export const describeTally = (tally: Tally): string =>
  Object.entries(tally)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

/** Counts of a simulation. */
export interface Tally {
  histories: number;
  'of two versions': number;
  rounds: number;
  writes: number;
  'rows written': number;
  sweeps: number;
  'tombstones swept': number;
  backups: number;
  restores: number;
  'tenants deleted': number;
  kills: number;
  'cut connections': number;
  'interrupted requests': number;
  'key rotations': number;
  'pages compared': number;
  'whole reports compared': number;
  'summaries compared': number;
  'findings compared': number;
  'changes followed': number;
  'moments compared': number;
  'kept responses compared': number;
  'described changes compared': number;
  'drawn changes compared': number;
  'summaries of changes compared': number;
  'contradictions refused': number;
}

export const newTally = (): Tally => ({
  histories: 0,
  'of two versions': 0,
  rounds: 0,
  writes: 0,
  'rows written': 0,
  sweeps: 0,
  'tombstones swept': 0,
  backups: 0,
  restores: 0,
  'tenants deleted': 0,
  kills: 0,
  'cut connections': 0,
  'interrupted requests': 0,
  'key rotations': 0,
  'pages compared': 0,
  'whole reports compared': 0,
  'summaries compared': 0,
  'findings compared': 0,
  'changes followed': 0,
  'moments compared': 0,
  'kept responses compared': 0,
  'described changes compared': 0,
  'drawn changes compared': 0,
  'summaries of changes compared': 0,
  'contradictions refused': 0,
});

export const describeTally = (tally: Tally): string =>
  Object.entries(tally)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

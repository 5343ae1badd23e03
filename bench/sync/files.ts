import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Place, startS3, startSshd } from '../../test/sync/file-servers.ts';
import { openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { startOurs } from '../support/our-service.ts';
import { machineFacts, writeSection } from '../support/results.ts';

// The files of `subreport sync`, against their floor: reading the export without looking at it, and
// writing its bytes in the barest way. CPU time is that of the whole command, or of the whole bare
// program with the `sftp` that it starts, not of the service or the receiver.
//   npm run bench -- sync-files --records 1000000 --rounds 2

const options = readOptions({ records: 1_000_000, rounds: 2 });
const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-files-'));
const opened = await openBenchSqlite();
const ours = await startOurs(opened, await loadDataSet(opened.store, options.records, 1));
const [credentials] = ours.clients;
const s3 = await startS3(join(folder, 's3'));
const sshd = await startSshd(join(folder, 'sshd'));

const probe = `data:text/javascript,import { readFileSync } from 'node:fs'; process.on('exit', () => {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const children = (Number(fields[13]) + Number(fields[14])) / 100;
  console.error(JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6 + children, peak: maxRSS / 1024 }));
})`;

/** CPU seconds and the peak of resident memory in MiB. */
interface Use {
  readonly seconds: number;
  readonly peak: number;
}

async function useOf(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Use> {
  const child = spawn(process.execPath, ['--import', probe, ...args], {
    env: {
      ...process.env,
      SUBREPORT_URL: `http://127.0.0.1:${ours.port}`,
      SUBREPORT_CLIENT_ID: credentials?.client_id,
      SUBREPORT_CLIENT_SECRET: credentials?.client_secret,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [printed] = await Promise.all([textOf(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(printed);
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '');
}

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const copy = (format: string, { to, options: secrets, environment }: Place): Promise<Use> =>
  useOf([program('../../src/cli/main.ts'), 'sync', '--to', to, ...secrets, '--format', format, '--quiet'], environment);

const bare = (format: string, to: string | undefined, sftp: readonly string[] = []): Promise<Use> =>
  useOf([program('bare-file.ts'), format, join(folder, 'bare'), ...(to === undefined ? [] : [to])], {
    SFTP_OPTIONS: JSON.stringify(sftp),
  });

const sshOptions = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', `IdentityFile=${folder}/sshd/user`];

function folderPlace(name: string): Place {
  const path = join(folder, name);
  mkdirSync(path);
  return { to: `dir:${path}`, options: [], environment: {}, folder: path };
}

interface Side {
  readonly format: string;
  readonly where: string;
  copy(name: string): Promise<Use>;
  bare(name: string): Promise<Use>;
}

const sides: readonly Side[] = [
  ...['ndjson', 'csv', 'csv.gz', 'parquet'].map((format) => ({
    ...{ format, where: 'folder' },
    copy: (name: string) => copy(format, folderPlace(name)),
    bare: () => bare(format, undefined),
  })),
  {
    ...{ format: 'ndjson', where: 'S3' },
    copy: (name) => copy('ndjson', s3.placeOf(name)),
    bare: (name) => bare('ndjson', `${s3.url}/exports/${name}`),
  },
  {
    ...{ format: 'ndjson', where: 'SFTP' },
    copy: (name) => copy('ndjson', sshd.placeOf(name)),
    bare(name) {
      const { to } = sshd.placeOf(`bare-${name}`);
      return bare(
        'ndjson',
        to.replace(/:\d+/, '$&/'), // an absolute path
        sshOptions.flatMap((option) => ['-o', option]),
      );
    },
  },
];

const lines: string[] = [];
for (const { format, where, ...side } of sides) {
  const rounds: { readonly floor: Use; readonly own: Use }[] = [];
  for (let round = 1; round <= options.rounds; round += 1)
    rounds.push({ floor: await side.bare(`bare-${round}`), own: await side.copy(`${where}-${format}-${round}`) });
  const middle = (of: (round: (typeof rounds)[number]) => number): number => median(rounds.map(of));
  const perSecond = (use: 'floor' | 'own'): string =>
    Math.round(options.records / middle((round) => round[use].seconds)).toLocaleString('en');
  const cells = [
    `${format} in ${where === 'folder' ? 'a folder' : where}`,
    ...[perSecond('floor'), perSecond('own')],
    middle(({ floor, own }) => floor.seconds / own.seconds).toFixed(2),
    ...[middle(({ floor }) => floor.peak), middle(({ own }) => own.peak)].map((peak) => peak.toFixed(0)),
  ];
  lines.push(`| ${cells.join(' | ')} |`);
  process.stdout.write(`${lines.at(-1)}\n`);
}
await Promise.all([s3.stop(), sshd.stop()]);
await ours.stop();
await opened.close();
rmSync(folder, { recursive: true });

const text = `${options.records.toLocaleString('en')} records, ${options.rounds} rounds, medians; both sides in turn, each run in a process of its own, with its start. The floor reads the export without looking at it and writes its bytes to a
file (\`csv.gz\`: through \`zlib\`); to S3 and SFTP, it then sends the file with one \`PUT\`, or with OpenSSH's \`sftp\`. CPU time is that of the command or of the bare program, not of the service or the receiver.
A sync also counts the records, checks the SHA-256 of the export, and hashes the file. Goal: at least 0.5 of the floor.

${machineFacts('s3rver 3.7.1 and the sshd of Debian 12 as receivers')}.

| file | floor, records per CPU s | sync, records per CPU s | sync ÷ floor | peak RSS of the floor, MiB | of the sync, MiB |
|---|---|---|---|---|---|
${lines.join('\n')}`;
const results = {
  file: new URL('../results/sync-files.md', import.meta.url),
  title: '# The files of `subreport sync`\n\nWritten by `npm run bench -- sync-files`.\n',
};
if (options.dryRun) process.stdout.write(text);
else writeSection('Files', text, results);

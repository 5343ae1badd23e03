import type { DestinationKind } from './destination-kind.ts';

export const folderDestination: DestinationKind = {
  mode: 'files',
  form: 'dir:PATH',
  pattern: /^dir:./s,
  keeps: 'files in a folder of this machine, or one that is mounted here',
  examples: ['--to dir:/var/exports --format csv.gz'],
  async open({ to }) {
    const { FolderFiles } = await import('./files/folder-files.ts');
    return FolderFiles.open(to.slice('dir:'.length));
  },
};

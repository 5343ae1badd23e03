import { useEffect, useState } from 'preact/hooks';
import { type ColumnChoices, isPlain as isPlainIn, mappingOf, missingIn, suggestChoices } from './column-choices.ts';
import { describeFile, startBytes } from './describe-file.ts';
import { type FirstRows, readRows } from './read-rows.ts';

/** The columns of a file, and what they and their values are chosen for; none if it is no CSV. */
export function useColumns(file: File | undefined, saved: string | null, charset: string) {
  const [rows, setRows] = useState<FirstRows>([]);
  const [choices, setChoices] = useState<ColumnChoices>({});
  const [saves, setSaves] = useState(true);
  const [read, setRead] = useState<File>();
  useEffect(() => {
    let isCurrent = true;
    setRows([]);
    setRead(undefined);
    // a file that was removed: its check reports that
    const unread = (): FirstRows => [];
    void rowsOf(file, charset)
      .catch(unread)
      .then((found) => {
        if (!isCurrent) return;
        setRead(file);
        setRows(found);
        setChoices(suggestChoices(found[0] ?? [], saved));
      });
    return () => {
      isCurrent = false;
    };
    // a mapping that is saved meanwhile does not undo what was chosen
  }, [file, charset]);
  const [header = []] = rows;
  const hasColumns = header.length > 0;
  const isPlain = isPlainIn(header, choices);
  const mapping = hasColumns && !isPlain ? mappingOf(choices) : undefined;
  const missing = mapping === undefined ? [] : missingIn(choices);
  return { rows, header, choices, isPlain, isReading: file !== read, mapping, missing, saves, setChoices, setSaves };
}

async function rowsOf(file: File | undefined, charset: string): Promise<FirstRows> {
  if (file === undefined) return [];
  const kind = describeFile(file.name, new Uint8Array(await file.slice(0, startBytes).arrayBuffer()));
  return kind === undefined ? [] : readRows(file, kind, charset);
}
